// expect: deleted function
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Tensor lend(std::vector<float> &kept) {
#ifdef RIGHT
  return Tensor::borrow(std::span(kept), {2});
#else
  return Tensor::borrow(std::move(kept), {2});
#endif
}
