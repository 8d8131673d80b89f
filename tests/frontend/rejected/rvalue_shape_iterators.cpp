// expect: deleted (member )?function
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

std::vector<int64_t> extents(const Tensor &x) {
#ifdef RIGHT
  const Shape shape = x.shape();
  return std::vector<int64_t>(shape.begin(), shape.end());
#else
  return std::vector<int64_t>(x.shape().begin(), x.shape().end());
#endif
}
