// expect: no matching
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

void choose() {
#ifdef RIGHT
  QuantizedFloat8DTypePolicy policy("float8", "float32", 512);
#else
  QuantizedFloat8DTypePolicy policy("float8", "float32", 512.0);
#endif
}
