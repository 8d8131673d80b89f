// keras.ops on Values: sorting, and the largest elements.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <fmt/format.h>
#include <limits>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// The first `count` elements along an axis in sorted order, and their indices. float8 is compared as float32.
std::array<Value, 2> sorted(const Value &x, int64_t axis, bool descending, int64_t count) {
  const bool isFloat8 = is_float(x.dtype()) && itemsize(x.dtype()) == 1;
  auto [values, indices] = tracing().sort(isFloat8 ? asDtype(x, DType::float32) : x, axis, descending, count);
  return {asDtype(values, x.dtype()), indices};
}

/// The whole axis in ascending order; without an axis, x flattened.
std::array<Value, 2> sortedAlong(const char *op, const Value &x, std::optional<int64_t> axis) {
  const Value in = axis ? x : tracing().reshape(x, Shape({x.shape().elements()}));
  const int64_t along = axis ? normalizeAxis(op, *axis, in.rank()) : 0;
  return sorted(in, along, false, in.shape()[along]);
}

Config configOfAxis(std::optional<int64_t> axis) {
  return axis ? configOf("axis", *axis) : Config::parse(R"({"axis": null})");
}

void requireTargets(const Value &targets, const Value &predictions) {
  if (is_float(targets.dtype()) || targets.dtype() == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("in_top_k needs integer targets, got {}", name(targets.dtype())));
  std::vector<int64_t> leading = predictions.shape().dims();
  if (!leading.empty())
    leading.pop_back();
  if (predictions.rank() == 0 || targets.shape() != Shape(leading))
    throw Error(ErrorKind::value_error,
                fmt::format("in_top_k needs a target for each row of predictions. Received: targets.shape={}, "
                            "predictions.shape={}",
                            targets.shape().str(), predictions.shape().str()));
}

} // namespace

Value sort(const Value &x, std::optional<int64_t> axis) {
  if (isSymbolic(x))
    return recordOperation("Sort", {x}, configOfAxis(axis));
  return applyOne("sort", {x}, [axis](const List &v) { return sortedAlong("sort", v[0], axis)[0]; });
}
Value argsort(const Value &x, std::optional<int64_t> axis) {
  if (isSymbolic(x))
    return recordOperation("Argsort", {x}, configOfAxis(axis));
  return applyOne("argsort", {x}, [axis](const List &v) { // of a scalar, as Keras, whatever the axis
    return sortedAlong("argsort", v[0], v[0].rank() == 0 ? std::nullopt : axis)[1];
  });
}
std::array<Value, 2> top_k(const Value &x, int64_t k, bool sorted) {
  List results;
  if (isSymbolic(x)) {
    Config config = configOf("k", k);
    setField(config, "sorted", sorted);
    results = recordOperations("TopK", {x}, config);
  } else {
    results = apply("top_k", {x}, [k](const List &v) {
      const int64_t last = normalizeAxis("top_k", -1, v[0].rank());
      if (k < 0 || k > v[0].shape()[last])
        throw Error(ErrorKind::value_error,
                    fmt::format("top_k: k must be from 0 to the extent of the last axis. Received: k={}, x.shape={}", k,
                                v[0].shape().str()));
      const auto [values, indices] = ops::sorted(v[0], last, true, k);
      return List{values, indices};
    });
  }
  return {results[0], results[1]};
}
Value in_top_k(const Value &targets, const Value &predictions, int64_t k) {
  if (isSymbolic(targets) || isSymbolic(predictions))
    return recordOperation("InTopK", {targets, predictions}, configOf("k", k));
  return applyOne("in_top_k", {targets, predictions}, [k](const List &v) {
    requireTargets(v[0], v[1]);
    const Value scores = asFloat(v[1]), target = expand_dims(asDtype(v[0], DType::int64, "index"), -1);
    const int64_t last = scores.rank() - 1;
    const Value classes = tracing().iota(last, scores.shape(), DType::int64);
    const Value isTarget = equal(where(less(target, 0), target + scores.shape()[last], target), classes);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // A missing class or a NaN score ranks lowest.
    const Value isScore = logical_and(isTarget, logical_not(isnan(scores)));
    const Value score = max(where(isScore, scores, -infinity), -1, true);
    return less(sum(cast(greater(scores, score), DType::int32), -1), k);
  });
}

} // namespace halftone::ops
