// expect: no matching
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

void choose() {
#ifdef RIGHT
  set_dtype_policy("float16");
#else
  set_dtype_policy(float16);
#endif
}
