// keras.ops without operands, and masks: values that depend on indices alone.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// Refuses bool, and values that an integer dtype does not have.
void requireIn(DType dtype, std::string_view op, std::initializer_list<double> values) {
  if (dtype == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} gives numbers, not bools", op));
  for (double value : values)
    if (!std::isfinite(value) || (!is_float(dtype) && placeIn(dtype, value) != Place::inside))
      throw Error(ErrorKind::value_error, fmt::format("{}: {} has no number {}", op, name(dtype), value));
}

/// The float in which values on the way to `dtype` are computed.
DType computeFloat(DType dtype) { return is_float(dtype) && itemsize(dtype) < 8 ? DType::float32 : DType::float64; }

/// first + i * step, for i from 0.
Value ascending(double first, double step, int64_t count, DType dtype) {
  Value i = tracing().iota(0, Shape({count}), dtype);
  if (step != 1)
    i = tracing().binary("mul", i, scalarLike(step, i));
  return first == 0 ? i : tracing().binary("add", i, scalarLike(first, i));
}

int64_t countOf(double start, double stop, double step) {
  if (step == 0)
    throw Error(ErrorKind::value_error, "arange: step must not be 0");
  const double count = std::ceil((stop - start) / step);
  if (!(count < 0x1p62))
    throw Error(ErrorKind::value_error, fmt::format("arange from {} to {} by {} has no end", start, stop, step));
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

/// Where the index of the last axis, less that of the one before, is `predicate` to k.
Value diagonalMask(ComparePredicate predicate, const Shape &shape, int64_t k) {
  const int64_t rank = shape.rank(), longest = std::max(shape[-1], shape[-2]);
  const DType dtype = indexDtype(longest);
  Value diagonal =
      tracing().binary("sub", tracing().iota(rank - 1, shape, dtype), tracing().iota(rank - 2, shape, dtype));
  const auto bound = static_cast<double>(std::clamp(k, -longest, longest));
  return tracing().compare(predicate, diagonal, scalarLike(bound, diagonal));
}

Value triangle(const char *op, ComparePredicate kept, const Value &x, int64_t k) {
  return applyOne(op, {x}, [op, kept, k](const List &v) {
    if (v[0].rank() < 2)
      throw Error(ErrorKind::value_error,
                  fmt::format("{} of shape {}; expected at least two axes", op, v[0].shape().str()));
    return tracing().select(diagonalMask(kept, v[0].shape(), k), v[0], scalarLike(0, v[0]));
  });
}

} // namespace

Value arange(double start, std::optional<double> stop, std::optional<double> step, std::optional<DType> dtype) {
  const double first = stop ? start : 0, end = stop.value_or(start), by = step.value_or(1);
  const bool whole = isWhole(first) && isWhole(end) && isWhole(by);
  const DType type = dtype.value_or(whole ? DType::int32 : floatxDtype());
  const int64_t count = countOf(first, end, by);
  if (count > 0)
    requireIn(type, "arange", {first, first + static_cast<double>(count - 1) * by});
  return applyOne("arange", {}, [=](const List &) {
    if (is_float(type))
      return asDtype(ascending(first, by, count, computeFloat(type)), type, "arange");
    // As NumPy: integers ascend by the distance of the first two.
    const DType whole = itemsize(type) < 4 || type == DType::int32 ? DType::int32 : DType::int64;
    const double distance = std::trunc(first + by) - std::trunc(first);
    return asDtype(ascending(std::trunc(first), distance, count, whole), type, "arange");
  });
}
Value linspace(double start, double stop, int64_t num, bool endpoint, std::optional<DType> dtype) {
  const DType type = dtype.value_or(floatxDtype());
  requireIn(type, "linspace", {start, stop});
  if (num < 0)
    throw Error(ErrorKind::value_error, fmt::format("linspace: num must not be negative, got {}", num));
  return applyOne("linspace", {}, [=](const List &) {
    const auto parts = static_cast<double>(endpoint ? num - 1 : num);
    const DType compute = computeFloat(type);
    Value y = ascending(start, parts > 0 ? (stop - start) / parts : 0, num, compute);
    if (endpoint && num > 1) { // the last one exactly
      Value i = tracing().iota(0, Shape({num}), indexDtype(num));
      Value isLast = tracing().compare(ComparePredicate::eq, i, scalarLike(parts, i));
      y = tracing().select(isLast, scalarLike(stop, y), y);
    }
    return asDtype(is_float(type) ? y : tracing().unary("floor", y), type, "linspace");
  });
}
Value eye(int64_t N, std::optional<int64_t> M, int64_t k, std::optional<DType> dtype) {
  const int64_t columns = M.value_or(N);
  if (N < 0 || columns < 0)
    throw Error(ErrorKind::value_error, fmt::format("eye: extents must not be negative, got {} and {}", N, columns));
  return applyOne("eye", {}, [=](const List &) {
    Value mask = diagonalMask(ComparePredicate::eq, Shape({N, columns}), k);
    return asDtype(mask, dtype.value_or(floatxDtype()), "eye");
  });
}
Value tril(const Value &x, int64_t k) { return triangle("tril", ComparePredicate::le, x, k); }
Value triu(const Value &x, int64_t k) { return triangle("triu", ComparePredicate::ge, x, k); }

} // namespace halftone::ops
