// Normalizations and attention in files, with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/InnerSums.h"
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

using Arguments = OperationArguments;

namespace {

constexpr double kerasEpsilon = 1e-7; // keras.config.epsilon()

/// Keras computes statistics of 16-bit floats in float32.
Value wide(const Value &x) {
  return asDtype(x, is_float(x.dtype()) && itemsize(x.dtype()) >= 4 ? x.dtype() : DType::float32, "normalization");
}
/// Reshapes a vector along one axis of x, or parameters along several, to broadcast with x. A parameter with all axes
/// of x is unchanged.
Value along(const Value &parameter, const Value &x, const std::vector<int64_t> &axes) {
  if (parameter.rank() == x.rank())
    return parameter;
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  for (int64_t axis : axes)
    dims[static_cast<size_t>(axis)] = x.shape()[axis];
  return ops::reshape(parameter, Shape(dims));
}

} // namespace

Values normalizeOperation(Arguments &a) {
  const Value x = asFloat(a.value("x"));
  const bool hasAxes = !a.isNull("axis");
  const Axes axis(a.integers("axis"));
  const int64_t order = a.integer("order", 2);
  const double epsilon = a.number("epsilon", kerasEpsilon);
  if (order < 1)
    throw Error(ErrorKind::value_error, fmt::format("Argument `order` must be an int >= 1. Received: order={}", order));
  const DType dtype = x.dtype();
  if (order == 2)
    return asDtype(unitAlong(x, axis, 1.0 / epsilon), dtype, "normalization");
  if (!hasAxes || axis.list().size() != 1)
    throw Error(ErrorKind::not_implemented_error, "the operation Normalize has an order other than 2 and more or fewer "
                                                  "than one axis: norms of matrices cannot be read");
  const Value sizes = ops::abs(atLeastFloat32(x));
  const auto exponent = static_cast<double>(order);
  const Value sum = ops::sum(order == 1 ? sizes : ops::power(sizes, ops::full_like(sizes, exponent)), axis, true);
  const Value norm = order == 1 ? sum : ops::power(sum, ops::full_like(sum, 1.0 / exponent));
  return asDtype(x / ops::maximum(norm, ops::full_like(norm, epsilon)), dtype, "normalization");
}

Values momentsOperation(Arguments &a) {
  const Value x = a.value("x");
  const Axes axes(a.integers("axes"));
  const bool keepdims = a.flag("keepdims");
  if (a.flag("synchronized"))
    throw Error(ErrorKind::not_implemented_error, "the operation Moments is synchronized between replicas");
  const bool isNarrow = is_float(x.dtype()) && itemsize(x.dtype()) < 4;
  const auto result = [&](const Value &y) { // as in Keras, which clamps both to float16's range
    constexpr double largest = 65504.0;
    return isNarrow ? ops::cast(ops::clip(y, -largest, largest), x.dtype()) : y;
  };
  const Value in = wide(x);
  return {result(ops::mean(in, axes, keepdims)), result(ops::var(in, axes, keepdims))};
}

Values batchNormOperation(Arguments &a) {
  const Value x = a.value("x");
  const int64_t axis = normalizeAxis("batch_normalization", a.integer("axis"), x.rank());
  const auto vector = [&](const char *name, const Value &v) {
    if (v.rank() != 1 || v.shape()[0] != x.shape()[axis])
      throw Error(ErrorKind::value_error, fmt::format("Arguments `{}` must be a vector of length `x.shape[axis]`. "
                                                      "Expected: `({},)`. Received: `{}.",
                                                      name, x.shape()[axis], v.shape().str()));
    return along(v, x, {axis});
  };
  const Value mean = vector("mean", a.value("mean")), variance = vector("variance", a.value("variance"));
  const Value offset = a.maybeValue("offset"), scale = a.maybeValue("scale");
  Value inverse = ops::rsqrt(variance + a.number("epsilon", 1e-3));
  if (scale.defined())
    inverse = inverse * vector("scale", scale);
  Value rest = -mean * inverse;
  if (offset.defined())
    rest = rest + vector("offset", offset);
  return x * inverse + rest;
}

Values rmsNormOperation(Arguments &a) {
  const Value x = a.value("x"), scale = a.maybeValue("scale");
  const Axes axis(a.integers("axis"));
  const Value in = wide(x);
  Value y = in * ops::rsqrt(ops::mean(ops::square(in), axis, true) + a.number("epsilon", kerasEpsilon));
  if (scale.defined())
    y = y * asDtype(scale, in.dtype(), "normalization");
  return asDtype(y, x.dtype(), "normalization");
}

Values layerNormOperation(Arguments &a) {
  const Value x = a.value("x"), gamma = a.maybeValue("gamma"), beta = a.maybeValue("beta");
  const Value in = wide(x);
  const std::vector<int64_t> axes = normalizeAxes("layer_normalization", a.integers("axis"), x.rank());
  const bool onlyScales = a.flag("rms_scaling");
  const auto parameter = [&](const Value &v) { return along(asDtype(v, in.dtype(), "normalization"), in, axes); };
  const Value mean = ops::mean(in, Axes(axes), true), variance = ops::var(in, Axes(axes), true);
  Value inverse = ops::rsqrt(variance + a.number("epsilon", kerasEpsilon));
  if (gamma.defined())
    inverse = inverse * parameter(gamma);
  if (onlyScales) // Keras only divides by the deviation, and uses no beta
    return asDtype(in * inverse, x.dtype(), "normalization");
  Value y = (in - mean) * inverse;
  if (beta.defined())
    y = y + parameter(beta);
  return asDtype(y, x.dtype(), "normalization");
}

Values attentionOperation(Arguments &a) {
  const Value query = a.value("query"), key = a.value("key"), value = a.value("value");
  ops::DotProductAttentionArgs args;
  args.bias = a.maybeValue("bias");
  args.mask = a.maybeValue("mask");
  args.scale = a.maybeNumber("scale");
  args.is_causal = a.flag("is_causal");
  a.config("flash_attention"); // chooses Keras's kernel, not the result
  return ops::dot_product_attention(query, key, value, args);
}

} // namespace halftone::detail
