// Images of another size, as Pillow computes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/ImageFiles.h"
#include <array>

namespace halftone::detail {

/// A part of an image: its first row and column, and its extents.
struct Box {
  int64_t top, left, height, width;
};
/// The part of the image with this height and width. Opacity weighs colours, but with the nearest pixel.
Pixels resampled(const Pixels &pixels, const Box &box, std::array<int64_t, 2> size, Resample filter);

} // namespace halftone::detail
