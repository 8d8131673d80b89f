// expect: no non-static data member|does not refer to any field|no matching
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Dense make() {
#ifdef RIGHT
  const DenseArgs args{.activation = "relu"};
  return Dense(4, args);
#else
  const DenseArgs args{.activaton = "relu"};
  return Dense(4, args);
#endif
}
