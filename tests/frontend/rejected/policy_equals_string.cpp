// expect: no match|invalid operands
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

bool is_mixed(const DTypePolicy &policy) {
#ifdef RIGHT
  return policy == DTypePolicy("mixed_float16");
#else
  return policy == "mixed_float16";
#endif
}
