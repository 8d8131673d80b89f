// Index arithmetic of sliding windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace halftone::dialect {

/// Along each spatial axis, tap k of output position o reads index p = (o * stride + k * dilation - paddingLow) /
/// baseDilation.
struct WindowSteps {
  llvm::SmallVector<int64_t, 3> stride, dilation, paddingLow, baseDilation;

  int64_t rank() const { return static_cast<int64_t>(stride.size()); }
  /// p along `axis`; nullopt if it is not an integer or not in [0, extent).
  std::optional<int64_t> indexOf(int64_t axis, int64_t position, int64_t tap, int64_t extent) const;
  /// The inverse window, which maps p and k to o: input indices and output positions swap roles.
  WindowSteps inverse() const;
  /// The window with output positions and taps swapped.
  WindowSteps ofTaps() const { return {dilation, stride, paddingLow, baseDilation}; }
};

} // namespace halftone::dialect
