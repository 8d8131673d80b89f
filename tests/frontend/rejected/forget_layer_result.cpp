// expect: nodiscard|ignoring return
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Value forward(const Dense &dense, const Value &x) {
#ifdef RIGHT
  return dense(x);
#else
  dense(x);
  return x;
#endif
}
