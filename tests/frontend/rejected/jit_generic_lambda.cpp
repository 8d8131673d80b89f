// expect: no matching|constraint
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

void compile() {
#ifdef RIGHT
  auto same = jit([](const Value &x) { return x; });
  same(Tensor::ones({1}));
#else
  auto same = jit([](auto x) { return x; });
  same(Tensor::ones({1}));
#endif
}
