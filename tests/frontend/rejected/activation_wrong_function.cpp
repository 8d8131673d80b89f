// expect: could not convert|no matching|no viable
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Dense activated() {
#ifdef RIGHT
  return Dense(4, {.activation = [](const Value &x) { return ops::relu(x); }});
#else
  return Dense(4, {.activation = [](int i) { return i; }});
#endif
}
