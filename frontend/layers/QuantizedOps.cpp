// Composes quantized arithmetic from ordinary ops.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/QuantizedOps.h"
#include "frontend/graph/Promotion.h"

namespace halftone::detail {

QuantizedValue absMaxQuantized(const Value &x, const std::vector<int64_t> &axes) {
  constexpr double most = 127.0, epsilon = 1e-7;
  const Value floats = asFloat(x);
  const Value scale = most / (ops::max(ops::abs(floats), Axes(axes), true) + epsilon);
  return {ops::cast(ops::clip(ops::round(floats * scale), -most, most), DType::int8), scale};
}

DType productDtype(DType x, DType weights) { return x == weights ? x : result_type(x, weights); }

Value unpackedInt4(const Value &packed, int64_t columns) {
  const int64_t rows = packed.shape()[0], bytes = packed.shape()[1];
  const Value pairs = ops::broadcast_to(ops::expand_dims(packed, -1), {rows, bytes, 2});
  const Value lift = ops::arange(4, -4, -4, DType::int8); // 4, 0: shifts a low half up, then down with sign extension
  const Value down = tracing().splat(4.0, {2}, DType::int8);
  const Value halves = ops::right_shift(ops::left_shift(pairs, lift), down);
  const Value all = ops::reshape(halves, {rows, bytes * 2});
  return columns == bytes * 2 ? all : ops::slice(all, {0, 0}, {rows, columns});
}

Value dequantizedGroups(const Value &values, const Value &scale, const Value &zero, const Value &groups, int64_t axis) {
  const Value indices = ops::cast(groups, DType::int32);
  const Value scales = ops::take(scale, indices, axis), zeros = ops::take(zero, indices, axis);
  return (asDtype(values, scales.dtype()) - asDtype(zeros, scales.dtype())) * scales;
}

namespace {

constexpr double maxE4M3 = 448.0, maxE5M2 = 57344.0;

Value throughFloat8(const Value &x, const Value &scale, DType narrow, double most, DType compute) {
  const Value steps = ops::clip(x / asDtype(scale, compute), -most, most);
  return ops::cast(ops::cast(steps, narrow), compute) * asDtype(scale, compute);
}

/// The next scale, from the largest magnitude of the history; the current one if that is 0 or not finite.
Value nextScale(const Value &scale, const Value &history, double most) {
  const Value largest = ops::max(history, {0});
  const Value present = ops::reciprocal(scale), next = most / largest;
  const Value isUseful = ops::logical_and(ops::greater(largest, ops::zeros_like(largest)), ops::isfinite(largest));
  return ops::reciprocal(ops::where(isUseful, next, present));
}

/// The history with its oldest entry replaced by the largest magnitude of `x`.
Value nextHistory(const Value &x, const Value &history) {
  Value largest = asDtype(ops::reshape(ops::max(ops::abs(x)), {1}), history.dtype());
  const int64_t length = history.shape()[0];
  if (length <= 1)
    return largest;
  return ops::concatenate({largest, ops::slice(history, {2 % length}, {length - 2}), ops::slice(history, {0}, {1})}, 0);
}

} // namespace

Value roundedToFloat8(const Value &x, const Float8State &state, DType compute, bool updates) {
  return ops::custom_gradient([compute, updates](const Values &v) -> ops::WithGradient {
    const Value scale = v[1], history = v[2];
    const Values next =
        updates ? Values{nextScale(scale, history, maxE4M3), nextHistory(v[0], history)} : Values{scale, history};
    return {throughFloat8(v[0], scale, DType::float8_e4m3fn, maxE4M3, compute),
            [next](const Value &upstream) { return Values{upstream, next[0], next[1]}; }};
  })({x, state.scale, state.history});
}

Value withFloat8Gradient(const Value &y, const Float8State &state, DType compute) {
  return ops::custom_gradient([compute](const Values &v) -> ops::WithGradient {
    return {v[0], [v, compute](const Value &upstream) {
              return Values{throughFloat8(upstream, v[1], DType::float8_e5m2, maxE5M2, compute),
                            nextScale(v[1], v[2], maxE5M2), nextHistory(upstream, v[2])};
            }};
  })({y, state.scale, state.history});
}

} // namespace halftone::detail
