// Elements of an array at coordinates between them, as keras.ops.image takes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/ImageOps.h"
#include <vector>

namespace halftone::detail {

struct Sampling {
  bool isLinear = true; // else the nearest element, of two the one that is farther from 0
  FillMode fillMode = FillMode::constant;
  double fillValue = 0.0;
};
/// value_error for an interpolation by more neighbours.
Sampling samplingOf(Interpolation interpolation, FillMode fillMode, double fillValue);

/// The indices of elements of an axis that stand for `index`, which may lie outside; those of FillMode::constant are the nearest
/// ones.
Value indexByFillMode(const Value &index, int64_t extent, FillMode mode);

struct SampledAxis {
  Value coordinate; // a float of the shape of the result, or one that broadcasts to it
  int64_t extent;
};
/// Slices of x, whose first axis is the product of the axes' extents, in their order: (result's shape, other axes of x), in x's
/// dtype. `block`, if it is defined, is the index of an axis before these.
Value sampled(const Value &x, const std::vector<SampledAxis> &axes, const Value &block, const Sampling &sampling);

/// Images (batch, height, width, channels) under the transforms (batch, 8) of ops::image::affine_transform; `hasDivisor` tells
/// whether the last two numbers may differ from 0.
Value transformed(const Value &images, const Value &transforms, const Sampling &sampling, bool hasDivisor);

} // namespace halftone::detail
