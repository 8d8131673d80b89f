// Sums inside operations.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/InnerSums.h"
#include "frontend/graph/Promotion.h"

namespace halftone::detail {

namespace {

/// Returns true if `dtype` can represent a sum of `count` terms of at most 1.
bool holdsSum(DType dtype, double count) {
  constexpr double float16Overflow = 65520.0; // the smallest number that rounds to inf
  return dtype != DType::float16 || count < float16Overflow;
}

} // namespace

Value belowLargest(const Value &given, const Axes &axes) {
  const Value x = asFloat(given); // a difference of integers may wrap
  double count = 1;
  for (const int64_t axis : normalizeAxes("softmax", axes.list(), x.rank()))
    count *= static_cast<double>(x.shape()[axis]);
  const Value below = x - ops::stop_gradient(ops::max(x, axes, /*keepdims=*/true));
  return holdsSum(x.dtype(), count) ? below : atLeastFloat32(below);
}

Value sharesOf(const Value &x, const Axes &axes) {
  const Value wide = atLeastFloat32(x);
  return asDtype(wide / ops::sum(wide, axes, /*keepdims=*/true), x.dtype());
}

ScaledNorm scaledNorm(const Value &x, const Axes &axes) {
  const Value wide = atLeastFloat32(x);
  if (x.dtype() == DType::float16) // no sum of its squares overflows float32
    return {wide, ops::sum(ops::square(wide), axes, /*keepdims=*/true), {}};
  const SquareScale bounds = squareScale(wide.dtype());
  const Value largest = ops::stop_gradient(ops::max(ops::abs(wide), axes, /*keepdims=*/true));
  const Value isLarge = ops::greater(largest, ops::full_like(largest, bounds.from));
  const Value scale = ops::where(isLarge, ops::full_like(largest, bounds.factor), ops::ones_like(largest));
  const Value scaled = wide * scale;
  return {scaled, ops::sum(ops::square(scaled), axes, /*keepdims=*/true), scale};
}

Value unitAlong(const Value &x, const Axes &axes, double most) {
  const ScaledNorm norm = scaledNorm(x, axes);
  // The bound is on the squares instead of the inverse, so that the gradient at 0 is finite.
  Value least = ops::full_like(norm.squares, 1.0 / (most * most));
  if (norm.scale.defined())
    least = least * norm.scale * norm.scale;
  return norm.x * ops::rsqrt(ops::maximum(norm.squares, least));
}

} // namespace halftone::detail
