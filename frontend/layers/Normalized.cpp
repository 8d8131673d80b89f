// Computes statistics, parameters and axes of normalization layers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Normalized.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

Value widened(const Value &x) {
  return asDtype(x, is_float(x.dtype()) && itemsize(x.dtype()) >= 4 ? x.dtype() : DType::float32, "normalization");
}

Value sumOver(const Value &x, const std::vector<int64_t> &axes) {
  std::vector<int64_t> kept = x.shape().dims();
  for (int64_t axis : axes)
    kept[static_cast<size_t>(axis)] = 1;
  Value sum = axes.empty() ? x : tracing().reduce(ReduceKind::sum, x, axes, x.dtype());
  return ops::reshape(sum, Shape(kept));
}

double countOver(const Value &x, const std::vector<int64_t> &axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= static_cast<double>(x.shape()[axis]);
  return count;
}

Value meanOver(const Value &x, const std::vector<int64_t> &axes) { return sumOver(x, axes) / countOver(x, axes); }

Moments momentsOf(const Value &x, const std::vector<int64_t> &axes) {
  Value mean = meanOver(x, axes);
  return {mean, meanOver(ops::square(x - mean), axes)};
}

Value weightsOf(const Value &mask, const Value &x, int64_t features) {
  const Shape given = mask.shape(), input = x.shape();
  std::vector<int64_t> dims = given.dims();
  dims.insert(dims.begin(), static_cast<size_t>(std::max<int64_t>(input.rank() - given.rank() - 1, 0)), 1);
  dims.push_back(1);
  bool fits = std::ssize(dims) == input.rank();
  for (int64_t axis = 0; fits && axis < input.rank(); ++axis)
    fits = dims[static_cast<size_t>(axis)] == 1 || dims[static_cast<size_t>(axis)] == input[axis];
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("The mask has shape {}, which does not broadcast to all but the last axis of the input of "
                            "shape {}: a mask has one element for each step of each sample",
                            given.str(), input.str()));
  const Value weights = asDtype(ops::reshape(mask, Shape(dims)), x.dtype(), "mask");
  std::vector<int64_t> all = input.dims();
  all[static_cast<size_t>(features)] = dims[static_cast<size_t>(features)];
  return broadcastTo(weights, Shape(all));
}

Moments momentsOf(const Value &x, const std::vector<int64_t> &axes, const Value &weights) {
  const Value count = sumOver(weights, axes) + 1e-7; // Keras's epsilon, for a sum of 0
  const Value mean = sumOver(x * weights, axes) / count;
  return {mean, sumOver(ops::square(x - mean) * weights, axes) / count};
}

Value along(const Value &parameter, const Value &x, const std::vector<int64_t> &axes) {
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  for (int64_t axis : axes)
    dims[static_cast<size_t>(axis)] = x.shape()[axis];
  return ops::reshape(asDtype(parameter, x.dtype(), "normalization"), Shape(dims));
}

Shape extentsOf(const char *layer, const Shape &input, const std::vector<int64_t> &axes) {
  std::vector<int64_t> dims;
  for (int64_t axis : axes) {
    dims.push_back(input[axis]);
    if (dims.back() < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("Axis {} of the input of layer {} should have a defined dimension but the layer received "
                              "an input with shape {}",
                              axis, layer, input.str()));
  }
  return Shape(dims);
}

void ScaleAndOffset::build(BuildContext &context, const Shape &shape) {
  auto made = [&](WeightArgs args) {
    args.shape = shape;
    return context.add_weight(args);
  };
  if (scale)
    gamma = made(gammaArgs);
  if (center)
    beta = made(betaArgs);
}

Value ScaleAndOffset::operator()(Value x, const std::vector<int64_t> &axes) const {
  if (scale)
    x = x * along(gamma, x, axes);
  if (center)
    x = x + along(beta, x, axes);
  return x;
}

} // namespace halftone::detail
