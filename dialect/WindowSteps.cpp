// Index arithmetic of sliding windows.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/WindowSteps.h"

namespace halftone::dialect {

std::optional<int64_t> WindowSteps::indexOf(int64_t axis, int64_t position, int64_t tap, int64_t extent) const {
  const int64_t scaled = position * stride[axis] + tap * dilation[axis] - paddingLow[axis];
  if (scaled < 0 || scaled % baseDilation[axis] != 0 || scaled / baseDilation[axis] >= extent)
    return std::nullopt;
  return scaled / baseDilation[axis];
}

// o = (p * baseDilation - k * dilation + paddingLow) / stride, with a positive divisor.
WindowSteps WindowSteps::inverse() const {
  WindowSteps result;
  for (auto [s, d, l, h] : llvm::zip_equal(stride, dilation, paddingLow, baseDilation)) {
    const int64_t sign = s > 0 ? 1 : -1;
    result.stride.push_back(sign * h);
    result.dilation.push_back(-sign * d);
    result.paddingLow.push_back(-sign * l);
    result.baseDilation.push_back(sign * s);
  }
  return result;
}

} // namespace halftone::dialect
