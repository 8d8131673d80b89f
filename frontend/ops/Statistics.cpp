// keras.ops on Values: statistics and other composite reductions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// `weights` in the form that multiplies `x`: in its shape, or along the single axis in `axis`.
Value weightsAlong(const Value &weights, const Value &x, const Axes &axis) {
  if (weights.shape() == x.shape())
    return weights;
  if (axis.list().size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("average: weights of shape {} for x of shape {} need one axis",
                                                    weights.shape().str(), x.shape().str()));
  const int64_t along = normalizeAxis("average", axis.list()[0], x.rank());
  if (weights.shape() != Shape({x.shape()[along]}))
    throw Error(ErrorKind::value_error, fmt::format("average: weights of shape {} do not fit axis {} of shape {}",
                                                    weights.shape().str(), axis.list()[0], x.shape().str()));
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[static_cast<size_t>(along)] = x.shape()[along];
  return reshape(weights, Shape(dims));
}

} // namespace

Value var(const Value &x, const Axes &axis, bool keepdims) {
  return applyOne(
      "var", {x},
      [axis, keepdims](const List &v) {
        const DType dtype = floatOf(v[0].dtype());
        Value in = asDtype(v[0], atLeastFloat32(dtype));
        Value deviation = in - mean(in, axis, true);
        return asDtype(mean(square(deviation), axis, keepdims), dtype, "var");
      },
      formOfReduction(axis.list(), keepdims));
}
Value std(const Value &x, const Axes &axis, bool keepdims) {
  return applyOne(
      "std", {x},
      [axis, keepdims](const List &v) {
        const DType dtype = floatOf(v[0].dtype());
        return asDtype(sqrt(var(asDtype(v[0], atLeastFloat32(dtype)), axis, keepdims)), dtype, "std");
      },
      formOfReduction(axis.list(), keepdims));
}
Value logsumexp(const Value &x, const Axes &axis, bool keepdims) {
  return applyOne(
      "logsumexp", {x},
      [axis, keepdims](const List &v) {
        const DType dtype = floatOf(v[0].dtype());
        Value in = asDtype(v[0], atLeastFloat32(dtype)), largest = stop_gradient(max(in, axis, true));
        // An infinite x cannot be the shift: inf - inf is NaN.
        Value shift = where(isfinite(largest), largest, zeros_like(largest));
        Value y = log(sum(exp(in - shift), axis, true)) + shift;
        return asDtype(keepdims ? y : squeeze(y, axis), dtype, "logsumexp");
      },
      formOfReduction(axis.list(), keepdims));
}
Value average(const Value &x, const Axes &axis, const Value &weights) {
  if (!weights.defined())
    return mean(x, axis);
  return applyOne("average", {x, weights}, [axis](const List &v) {
    const bool same = v[0].dtype() == v[1].dtype();
    const DType dtype = floatOf(same ? v[0].dtype() : result_type(v[0].dtype(), v[1].dtype()));
    Value in = asDtype(v[0], atLeastFloat32(dtype)),
          factors = weightsAlong(asDtype(v[1], atLeastFloat32(dtype)), in, axis);
    const bool whole = factors.shape() == in.shape();
    Value total = whole ? sum(factors, axis) : sum(factors);
    return asDtype(sum(in * factors, axis) / total, dtype, "average");
  });
}
Value count_nonzero(const Value &x, const Axes &axis) {
  return applyOne(
      "count_nonzero", {x}, [axis](const List &v) { return sum(asDtype(v[0], DType::bool_), axis); },
      configForm("axis", axis));
}
Value any(const Value &x, const Axes &axis, bool keepdims) {
  return applyOne(
      "any", {x}, [axis, keepdims](const List &v) { return max(asDtype(v[0], DType::bool_), axis, keepdims); },
      formOfReduction(axis.list(), keepdims));
}
Value all(const Value &x, const Axes &axis, bool keepdims) {
  return applyOne(
      "all", {x}, [axis, keepdims](const List &v) { return min(asDtype(v[0], DType::bool_), axis, keepdims); },
      formOfReduction(axis.list(), keepdims));
}
Value squared_difference(const Operand &a, const Operand &b) { return square(a - b); }

} // namespace halftone::ops
