// Image resizing as in Pillow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/ImageFiles.h"
#include <array>

namespace halftone::detail {

/// A rectangle of an image: its first row and column, and its extents.
struct Box {
  int64_t top, left, height, width;
};
/// Resizes `box` of the image to `size`, (height, width). Colours are weighted by alpha, except with the nearest
/// filter.
Pixels resampled(const Pixels &pixels, const Box &box, std::array<int64_t, 2> size, Resample filter);

} // namespace halftone::detail
