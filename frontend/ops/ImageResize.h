// Images of another height and width, as keras.ops.image.resize gives them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/ImageOps.h"
#include "halftone/Spatial.h"
#include <array>

namespace halftone::detail {

struct ImageSize {
  std::array<int64_t, 2> axes;    // of height and width
  std::array<int64_t, 2> extents; // wanted
};

/// x with these extents, in its dtype. A weighted sum of integers is computed in float32, rounded and clamped.
Value resized(const Value &x, const ImageSize &size, Interpolation interpolation, bool antialias = false);
/// The largest box in the middle of x whose sides have the ratio of `size`.
Value croppedToRatio(const Value &x, const ImageSize &size);
/// The same of an image that is first cut or padded to the ratio of `size`, if the arguments say so.
Value resized(const Value &x, const ImageSize &size, const ops::image::ResizeArgs &args);

} // namespace halftone::detail
