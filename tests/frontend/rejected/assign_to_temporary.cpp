// expect: passing .* discards|no match|no viable|lvalue|rvalue
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

void assign(Value a, const Value &b) {
#ifdef RIGHT
  a = a + b;
#else
  (a + b) = a;
#endif
}
