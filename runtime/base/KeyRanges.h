// The elements that an indexing key selects, as in NumPy's basic indexing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Indexing.h"
#include <span>
#include <vector>

namespace halftone {

/// The selected indices of one axis: `count` indices from `start` on, `step` apart. If there is at most one, the step
/// is 1. For an axis of unknown extent only `count` is meaningful; it is `none` if the key has a slice there.
struct AxisRange {
  int64_t start = 0, count = 0, step = 1;
};

struct KeyRanges {
  std::vector<AxisRange> axes; // one per axis of the indexed shape
  std::vector<int64_t> kept;   // for each axis of the result its axis in the indexed shape, or -1 for a new axis
  /// region() is the extents of the selection on all axes of the indexed shape. result() removes the axes that the key
  /// indexes and adds the new ones.
  Shape region() const;
  Shape result() const;
};

/// Resolves a key. value_error for an index out of range, a step of 0, too many items or a second ellipsis. An extent
/// for which `isOpen` returns true is unknown: any index may be in its range.
KeyRanges rangesOf(std::span<const Index> key, const Shape &shape, bool (*isOpen)(int64_t extent) = nullptr);

/// The key as Python writes it: "[0, :, 1::2, ..., None]".
std::string keyText(std::span<const Index> key);

} // namespace halftone
