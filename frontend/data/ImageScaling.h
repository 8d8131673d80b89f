// Float images of another size, as TensorFlow's tf.image computes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/Choice.h"
#include <array>
#include <vector>

namespace halftone::detail {

struct Scaling {
  std::array<int64_t, 2> size; // height and width
  Interpolation interpolation = Interpolation::bilinear;
  bool cropsToRatio = false; // first takes the middle of the image with the ratio of `size`
  bool padsToRatio = false;  // keeps the ratio of the image, and surrounds it with zeros
};
/// (height, width, channels): for the nearest pixels as they are, else sums of neighbours, without smoothing.
std::vector<float> scaled(const Pixels &pixels, const Scaling &scaling);

} // namespace halftone::detail
