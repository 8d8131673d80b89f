// Which places of its axes a key takes, as in NumPy's basic indexing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Indexing.h"
#include <span>
#include <vector>

namespace halftone {

/// The places of one axis: `count` of them from `start` on, `step` apart. If there is at most one, the step is 1. Of an
/// axis of extent none, which any place may belong to, only `count` means something: none if the key has a slice there.
struct AxisPlaces {
  int64_t start = 0, count = 0, step = 1;
};

struct KeyPlaces {
  std::vector<AxisPlaces> axes; // of the shape that the key is applied to
  std::vector<int64_t> kept;    // for each axis of the result its axis there, or -1 for a new one
  /// The extents of the places; of the result too, if no axis goes and none comes.
  Shape region() const;
  Shape result() const;
};

/// value_error for a place outside of its axis, a step of 0, too many items and a second ellipsis. An extent of which
/// `isOpen` holds stands for one that is not known: any place may belong to it.
KeyPlaces placesOf(std::span<const Index> key, const Shape &shape, bool (*isOpen)(int64_t extent) = nullptr);

/// The key as Python writes it: "[0, :, 1::2, ..., None]".
std::string keyText(std::span<const Index> key);

} // namespace halftone
