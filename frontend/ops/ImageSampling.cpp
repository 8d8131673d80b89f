// Samples arrays by gathers: each result is one element, or a weighted sum of neighbors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/ImageSampling.h"
#include "frontend/graph/Promotion.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>
#include <optional>

namespace halftone::detail {

Sampling samplingOf(Interpolation interpolation, FillMode fillMode, double fillValue) {
  if (interpolation != Interpolation::nearest && interpolation != Interpolation::bilinear)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument `interpolation`. Expected of one ('nearest', 'bilinear'). "
                            "Received: interpolation={}",
                            Choice<Interpolation>(interpolation).word()));
  return {interpolation == Interpolation::bilinear, fillMode, fillValue};
}

Value indexByFillMode(const Value &index, int64_t extent, FillMode mode) {
  const Value last = ops::full_like(index, extent - 1);
  Value first = ops::zeros_like(index);
  const auto modulo = [&](const Value &x, int64_t period) { return ops::mod(x, ops::full_like(x, period)); };
  switch (mode) {
  case FillMode::wrap:
    return modulo(index, extent);
  case FillMode::reflect: {
    const Value position = modulo(index, extentProduct(2, extent));
    return ops::minimum(position, ops::full_like(index, extentProduct(2, extent) - 1) - position);
  }
  case FillMode::mirror: {
    if (extent == 1)
      return first;
    const Value position = modulo(index, extentProduct(2, extent - 1));
    return ops::minimum(position, ops::full_like(index, extentProduct(2, extent - 1)) - position);
  }
  case FillMode::constant:
  case FillMode::nearest:
    return ops::minimum(ops::maximum(index, first), last);
  }
  return index;
}

namespace {

/// One element along an axis per result.
struct Neighbour {
  Value index, isInside, weight; // the latter two may be undefined, meaning true and 1
};

Value roundedAway(const Value &x) {
  const Value whole = ops::trunc(x);
  return ops::where(ops::greater_equal(ops::abs(x - whole), 0.5), whole + ops::sign(x), whole);
}

Neighbour neighbourAt(const Value &whole, const Value &weight, int64_t extent, FillMode mode) {
  const Value index = ops::cast(whole, DType::int32), position = indexByFillMode(index, extent, mode);
  return {position, mode == FillMode::constant ? ops::equal(index, position) : Value(), weight};
}

std::vector<Neighbour> neighboursOf(const SampledAxis &axis, const Sampling &sampling) {
  if (!sampling.isLinear)
    return {neighbourAt(roundedAway(axis.coordinate), {}, axis.extent, sampling.fillMode)};
  const Value lower = ops::floor(axis.coordinate), share = axis.coordinate - lower;
  return {neighbourAt(lower, 1.0 - share, axis.extent, sampling.fillMode),
          neighbourAt(lower + 1.0, share, axis.extent, sampling.fillMode)};
}

/// Reshapes a value per result to a factor for slices of `rank` axes.
Value spread(const Value &value, int64_t rank) {
  std::vector<int64_t> dims = value.shape().dims();
  dims.resize(static_cast<size_t>(rank), 1);
  return ops::reshape(value, Shape(std::move(dims)));
}

/// The slices selected by one combination of neighbors, times their weight.
Value contribution(const Value &x, const std::vector<SampledAxis> &axes, const std::vector<Neighbour> &chosen,
                   const Value &block, const Sampling &sampling) {
  const DType dtype = indexDtype(x.shape()[0]);
  Value row = block.defined() ? asDtype(block, dtype) : Value(), isInside, weight;
  const auto joined = [](const Value &a, const Value &b, auto join) {
    return !a.defined() ? b : !b.defined() ? a : join(a, b);
  };
  for (size_t i = 0; i < axes.size(); ++i) {
    const Value index = asDtype(chosen[i].index, dtype);
    row = row.defined() ? row * axes[i].extent + index : index;
    isInside =
        joined(isInside, chosen[i].isInside, [](const Value &a, const Value &b) { return ops::logical_and(a, b); });
    weight = joined(weight, chosen[i].weight, [](const Value &a, const Value &b) { return a * b; });
  }
  const int64_t rank = row.rank() + x.rank() - 1;
  Value slices = ops::take(x, row, 0);
  if (isInside.defined())
    slices = ops::where(spread(isInside, rank), slices, ops::full_like(slices, sampling.fillValue));
  return weight.defined() ? asDtype(slices, weight.dtype()) * spread(weight, rank) : slices;
}

} // namespace

Value sampled(const Value &x, const std::vector<SampledAxis> &axes, const Value &block, const Sampling &sampling) {
  const DType fine = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
  std::vector<std::vector<Neighbour>> neighbours;
  for (const SampledAxis &axis : axes)
    neighbours.push_back(neighboursOf({asDtype(axis.coordinate, fine), axis.extent}, sampling));
  Value total;
  for (size_t choice = 0; choice < (sampling.isLinear ? size_t(1) << axes.size() : 1); ++choice) {
    std::vector<Neighbour> chosen;
    for (size_t i = 0; i < axes.size(); ++i)
      chosen.push_back(neighbours[i][(choice >> (axes.size() - 1 - i)) & 1]);
    const Value part = contribution(x, axes, chosen, block, sampling);
    total = total.defined() ? total + part : part;
  }
  if (sampling.isLinear && !is_float(x.dtype()))
    total = roundedAway(total);
  return asDtype(total, x.dtype(), "sampling");
}

Value transformed(const Value &images, const Value &transforms, const Sampling &sampling, bool hasDivisor) {
  const Shape &shape = images.shape();
  const int64_t batch = shape[0], height = shape[1], width = shape[2];
  const DType fine = transforms.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const Value table = asDtype(transforms, fine);
  const auto number = [&](int64_t i) {
    return ops::reshape(ops::slice(table, Shape{0, i}, Shape{batch, 1}), Shape{batch, 1, 1});
  };
  const Value x = tracing().iota(2, Shape{1, 1, width}, fine), y = tracing().iota(1, Shape{1, height, 1}, fine);
  Value column = number(0) * x + number(1) * y + number(2), row = number(3) * x + number(4) * y + number(5);
  if (hasDivisor) {
    const Value divisor = number(6) * x + number(7) * y + 1.0;
    column = column / divisor;
    row = row / divisor;
  }
  const Value block = tracing().iota(0, Shape{batch, 1, 1}, indexDtype(batch));
  const Value pixels = ops::reshape(images, Shape{extentProduct(extentProduct(batch, height), width), shape[3]});
  return sampled(pixels, {{row, height}, {column, width}}, block, sampling);
}

} // namespace halftone::detail
