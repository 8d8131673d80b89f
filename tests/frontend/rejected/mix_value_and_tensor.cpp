// expect: deleted
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Value shift(const Value &a, const Tensor &x) {
#ifdef RIGHT
  return a + constant(x);
#else
  return a + x;
#endif
}
