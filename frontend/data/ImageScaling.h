// Image resizing to floats, as TensorFlow's tf.image computes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/Choice.h"
#include <array>
#include <vector>

namespace halftone::detail {

struct Scaling {
  std::array<int64_t, 2> size; // (height, width)
  Interpolation interpolation = Interpolation::bilinear;
  bool cropsToRatio = false; // first crops to the center region with the aspect ratio of `size`
  bool padsToRatio = false;  // keeps the aspect ratio of the image and pads with zeros
};
/// The scaled image, (height, width, channels). Nearest copies pixels; the others are weighted sums of neighbours,
/// without antialiasing.
std::vector<float> scaled(const Pixels &pixels, const Scaling &scaling);

} // namespace halftone::detail
