// Broadcasting and promotion.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "halftone/Policy.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

Trace &tracing() {
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error, "an operation was called outside of a function being traced");
  return *trace;
}

DType floatxDtype() { return standardize_dtype(config::floatx()); }

Value asDtype(const Value &x, DType dtype, std::string_view origin) {
  return x.dtype() == dtype ? x : tracing().cast(x, dtype, origin);
}

Value asFloat(const Value &x) { return is_float(x.dtype()) ? x : asDtype(x, floatxDtype()); }

Value asNumber(const Value &x) { return asDtype(x, numberOf(x.dtype())); }

DType indexDtype(int64_t extent) { return extent <= INT32_MAX ? DType::int32 : DType::int64; }

DType floatOf(DType dtype) { return is_float(dtype) ? dtype : floatxDtype(); }
DType numberOf(DType dtype) { return dtype == DType::bool_ ? DType::int32 : dtype; }
DType numberDtype(const Number &number, DType other) {
  switch (number.kind()) {
  case Number::Kind::boolean:
    return other;
  case Number::Kind::integer:
    return numberOf(other);
  case Number::Kind::real:
    return floatOf(other);
  }
  return other;
}
DType atLeastFloat32(DType dtype) { return itemsize(dtype) < 4 ? DType::float32 : dtype; }
Value atLeastFloat32(const Value &x) { return asDtype(x, atLeastFloat32(x.dtype())); }
SquareScale squareScale(DType dtype) {
  return dtype == DType::float64 ? SquareScale{0x1p480, 0x1p-560} : SquareScale{0x1p40, 0x1p-84};
}

Value broadcastTo(const Value &x, const Shape &shape) {
  Shape from = x.shape();
  if (from == shape)
    return x;
  if (from.rank() > shape.rank())
    throw Error(ErrorKind::value_error, fmt::format("cannot broadcast shape {} to {}", from.str(), shape.str()));
  // `kept`: the axes that stay. Axes of extent 1 that are broadcast are dropped first.
  std::vector<int64_t> kept, axes;
  int64_t offset = shape.rank() - from.rank();
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (from[i] != shape[i + offset] && from[i] != 1)
      throw Error(ErrorKind::value_error, fmt::format("cannot broadcast shape {} to {}", from.str(), shape.str()));
    if (from[i] != shape[i + offset])
      continue;
    kept.push_back(from[i]);
    axes.push_back(i + offset);
  }
  Value y = static_cast<int64_t>(kept.size()) == from.rank() ? x : tracing().reshape(x, Shape(kept));
  return static_cast<int64_t>(kept.size()) == shape.rank() ? y : tracing().broadcast(y, shape, axes);
}

/// The dtype of an operand next to a number.
static DType dtypeOf(const Operand &operand) {
  return operand.is_number() ? numberDtype(operand.number(), DType::bool_) : operand.value().dtype();
}

Operands fit(std::string_view op, const Operand &a, const Operand &b, DType (*computed)(DType)) {
  const auto computedIn = [computed](DType dtype) { return computed ? computed(dtype) : dtype; };
  if (!a.is_number() && !b.is_number()) {
    const Value &x = a.value(), &y = b.value();
    // Converts directly to `dtype`, so that large integers in a division do not wrap first.
    const DType dtype = computedIn(x.dtype() == y.dtype() ? x.dtype() : result_type(x.dtype(), y.dtype()));
    const Shape shape = broadcastShape(op, x.shape(), y.shape());
    return {broadcastTo(asDtype(x, dtype), shape), broadcastTo(asDtype(y, dtype), shape)};
  }
  const Operand &other = a.is_number() ? b : a;
  const DType dtype = computedIn(numberDtype(a.is_number() ? a.number() : b.number(), dtypeOf(other)));
  const Shape shape = other.is_number() ? Shape() : other.value().shape();
  const auto splat = [&](const Number &number) {
    requireHolds(op, dtype, number);
    return tracing().splat(number, shape, dtype);
  };
  const Value fitted = other.is_number() ? splat(other.number()) : asDtype(other.value(), dtype);
  return a.is_number() ? Operands{splat(a.number()), fitted} : Operands{fitted, splat(b.number())};
}

int64_t normalizeAxis(std::string_view op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorKind::value_error, fmt::format("{}: axis {} is out of range for rank {}", op, axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> normalizeAxes(std::string_view op, const std::vector<int64_t> &axes, int64_t rank) {
  std::vector<int64_t> result;
  if (axes.empty()) {
    result.resize(static_cast<size_t>(rank));
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  for (int64_t axis : axes)
    result.push_back(normalizeAxis(op, axis, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    throw Error(ErrorKind::value_error, fmt::format("{}: an axis is given twice", op));
  return result;
}

Value scalarLike(const Number &value, const Value &like, std::string_view op) {
  requireHolds(op, like.dtype(), value);
  return tracing().splat(value, like.shape(), like.dtype());
}

} // namespace halftone::detail
