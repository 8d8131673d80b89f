// Image resizing, as in keras.ops.image.resize.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/ImageOps.h"
#include "halftone/Spatial.h"
#include <array>

namespace halftone::detail {

struct ImageSize {
  std::array<int64_t, 2> axes;    // of height and width
  std::array<int64_t, 2> extents; // target extents
};

/// Resizes x to these extents, in its dtype. A weighted sum of integers is computed in float32, rounded and clamped.
Value resized(const Value &x, const ImageSize &size, Interpolation interpolation, bool antialias = false);
/// The largest centered crop of x with the aspect ratio of `size`.
Value croppedToRatio(const Value &x, const ImageSize &size);
/// Like the above; first crops or pads the image to the aspect ratio of `size` if the arguments request it.
Value resized(const Value &x, const ImageSize &size, const ops::image::ResizeArgs &args);

} // namespace halftone::detail
