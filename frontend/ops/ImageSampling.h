// Sampling of arrays at fractional coordinates, as in keras.ops.image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/ImageOps.h"
#include <vector>

namespace halftone::detail {

struct Sampling {
  bool isLinear = true; // otherwise nearest element; a tie rounds away from 0
  FillMode fillMode = FillMode::constant;
  double fillValue = 0.0;
};
/// value_error for an interpolation other than nearest and bilinear.
Sampling samplingOf(Interpolation interpolation, FillMode fillMode, double fillValue);

/// Maps `index`, which may be out of range, to indices of the elements that represent it; for FillMode::constant to the
/// nearest element.
Value indexByFillMode(const Value &index, int64_t extent, FillMode mode);

struct SampledAxis {
  Value coordinate; // a float of the result's shape, or one that broadcasts to it
  int64_t extent;
};
/// Samples slices of x, whose first axis collapses the sampled axes, in their order. The result has the shape of the
/// coordinates followed by the other axes of x, and x's dtype. `block`, if defined, is the index along a batch axis
/// that precedes the sampled axes.
Value sampled(const Value &x, const std::vector<SampledAxis> &axes, const Value &block, const Sampling &sampling);

/// Applies the transforms (batch, 8) of ops::image::affine_transform to images (batch, height, width, channels);
/// `hasDivisor` tells whether the last two coefficients may be non-zero.
Value transformed(const Value &images, const Value &transforms, const Sampling &sampling, bool hasDivisor);

} // namespace halftone::detail
