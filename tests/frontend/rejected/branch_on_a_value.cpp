// expect: could not convert|not contextually convertible|no match|invalid operands
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Value larger(const Value &a, const Value &b) {
#ifdef RIGHT
  return ops::where(ops::equal(a, b), a, b);
#else
  if (a == b)
    return a;
  return b;
#endif
}
