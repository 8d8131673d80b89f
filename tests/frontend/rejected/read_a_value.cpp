// expect: no member
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

float read(const Value &symbol, const Tensor &data) {
#ifdef RIGHT
  return symbol.defined() ? data.item<float>() : 0;
#else
  return symbol.item<float>() + data.item<float>();
#endif
}
