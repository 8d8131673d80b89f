// expect: narrowing|invalid conversion|cannot be narrowed|cannot convert|could not convert|no matching
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Dense make() {
#ifdef RIGHT
  return Dense(4, {.use_bias = false});
#else
  return Dense(4, {.use_bias = "no"});
#endif
}
