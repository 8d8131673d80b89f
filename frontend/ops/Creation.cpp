// keras.ops without operands, constants, and masks: values that depend only on shapes, data and indices.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

using Wide = __int128; // represents each difference and product of 64-bit numbers below

/// Refuses bool, and values that the dtype cannot represent.
void requireIn(DType dtype, std::string_view op, std::initializer_list<Number> values) {
  if (dtype == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} returns numbers, not bools", op));
  for (const Number &value : values)
    if (!std::isfinite(value.real()) || (!is_float(dtype) && positionIn(dtype, value) != RangePosition::inside))
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: {} cannot represent {}", op, name(dtype), numberText(value)));
}

/// The float dtype in which values for `dtype` are computed.
DType computeFloat(DType dtype) { return is_float(dtype) && itemsize(dtype) < 8 ? DType::float32 : DType::float64; }

/// first + i * step, for i from 0.
Value ascending(const Number &first, const Number &step, int64_t count, DType dtype) {
  Value i = tracing().iota(0, Shape({count}), dtype);
  if (step.real() != 1)
    i = tracing().binary("mul", i, scalarLike(step, i));
  return first.real() == 0 ? i : tracing().binary("add", i, scalarLike(first, i));
}

/// Truncates a number.
Wide wide(const Number &number) {
  if (number.kind() == Number::Kind::real)
    return static_cast<Wide>(number.real());
  return number.is_negative() ? Wide(static_cast<int64_t>(number.bits())) : Wide(number.bits());
}
Number narrow(Wide number) { return number < 0 ? Number(static_cast<int64_t>(number)) : static_cast<uint64_t>(number); }

/// The sequence of arange(); integers are computed exactly.
struct Range {
  Number first = 0, last = 0;
  int64_t count = 0;
};
Range rangeOf(const Number &start, const Number &stop, const Number &step) {
  if (step.real() == 0)
    throw Error(ErrorKind::value_error, "arange: step must not be 0");
  const auto isReal = [](const Number &number) { return number.kind() == Number::Kind::real; };
  const bool inReals = isReal(start) || isReal(stop) || isReal(step);
  double count = std::ceil((stop.real() - start.real()) / step.real());
  const Wide by = inReals ? 1 : wide(step), far = inReals ? 0 : wide(stop) - wide(start);
  const Wide exact = far / by + (far % by != 0);
  if (!(inReals ? count < 0x1p62 : exact < Wide(1) << 62))
    throw Error(ErrorKind::value_error, fmt::format("arange from {} to {} by {} has too many elements",
                                                    numberText(start), numberText(stop), numberText(step)));
  if (!inReals && (far < 0) == (by < 0) && far != 0)
    return {start, narrow(wide(start) + (exact - 1) * by), static_cast<int64_t>(exact)};
  if (inReals && count > 0)
    return {start, start.real() + (count - 1) * step.real(), static_cast<int64_t>(count)};
  return {start, start, 0};
}

/// A mask that is true where the index along the last axis, minus the index along the one before, satisfies `predicate`
/// with k.
Value diagonalMask(ComparePredicate predicate, const Shape &shape, int64_t k) {
  const int64_t rank = shape.rank(), longest = std::max(shape[-1], shape[-2]);
  const DType dtype = indexDtype(longest);
  Value diagonal =
      tracing().binary("sub", tracing().iota(rank - 1, shape, dtype), tracing().iota(rank - 2, shape, dtype));
  return tracing().compare(predicate, diagonal, scalarLike(std::clamp(k, -longest, longest), diagonal));
}

Value triangle(const char *op, ComparePredicate kept, const Value &x, int64_t k) {
  return applyOne(
      op, {x},
      [op, kept, k](const List &v) {
        if (v[0].rank() < 2)
          throw Error(ErrorKind::value_error,
                      fmt::format("{} of shape {}; expected at least two axes", op, v[0].shape().str()));
        return tracing().select(diagonalMask(kept, v[0].shape(), k), v[0], scalarLike(0, v[0]));
      },
      configForm("k", k));
}

/// value_error for an unknown dimension.
void requireKnown(const char *op, const Shape &shape) {
  if (std::ranges::any_of(shape.dims(), [](int64_t extent) { return extent < 0; }))
    throw Error(ErrorKind::value_error,
                fmt::format("{} of shape {}, which has a dimension of None; expected known extents. For the shape of "
                            "x, use zeros_like(x), ones_like(x) or full_like(x, value)",
                            op, shape.str()));
}
Value filled(const char *op, const Shape &shape, const Number &number, DType dtype) {
  requireKnown(op, shape);
  requireHolds(op, dtype, number);
  return applyOne(op, {}, [=](const List &) { return tracing().splat(number, shape, dtype); });
}

} // namespace

Value zeros(const Shape &shape, std::optional<DType> dtype) {
  return filled("zeros", shape, 0.0, dtype.value_or(floatxDtype()));
}
Value ones(const Shape &shape, std::optional<DType> dtype) {
  return filled("ones", shape, 1.0, dtype.value_or(floatxDtype()));
}
Value full(const Shape &shape, const Operand &fill_value, std::optional<DType> dtype) {
  if (fill_value.is_number())
    return filled("full", shape, fill_value.number(), dtype.value_or(numberDtype(fill_value.number(), DType::bool_)));
  requireKnown("full", shape);
  const DType type = dtype.value_or(fill_value.value().dtype());
  return applyOne("full", {fill_value.value()},
                  [shape, type](const List &v) { return broadcastTo(asDtype(v[0], type, "full"), shape); });
}
Value arange(const Number &start, const std::optional<Number> &stop, const std::optional<Number> &step,
             std::optional<DType> dtype) {
  const Number begin = stop ? start : Number(0), end = stop.value_or(start), by = step.value_or(1);
  const bool whole = isWhole(begin) && isWhole(end) && isWhole(by);
  const DType type = dtype.value_or(whole ? DType::int32 : floatxDtype());
  const Range range = rangeOf(begin, end, by);
  if (range.count > 0)
    requireIn(type, "arange", {range.first, range.last});
  return applyOne("arange", {}, [range, by, type](const List &) {
    if (is_float(type))
      return asDtype(ascending(range.first, by, range.count, computeFloat(type)), type, "arange");
    // As in NumPy, integers ascend by the difference of the first two. int64 wraps as every integer dtype does.
    Wide first = 0, distance = 1;
    if (range.count > 0)
      first = wide(range.first);
    if (range.count > 1)
      distance = by.kind() == Number::Kind::real ? wide(range.first.real() + by.real()) - first : wide(by);
    const auto fits = [](Wide number) { return number == static_cast<int32_t>(number); };
    const bool isNarrow = (itemsize(type) < 4 || type == DType::int32) && fits(first) && fits(distance);
    const DType compute = isNarrow ? DType::int32 : DType::int64;
    return asDtype(ascending(static_cast<int64_t>(first), static_cast<int64_t>(distance), range.count, compute), type,
                   "arange");
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
    if (endpoint && num > 1) { // makes the last value exact
      Value i = tracing().iota(0, Shape({num}), indexDtype(num));
      Value isLast = tracing().compare(ComparePredicate::eq, i, scalarLike(num - 1, i));
      y = tracing().select(isLast, scalarLike(stop, y), y);
    }
    return asDtype(is_float(type) ? y : tracing().unary("floor", y), type, "linspace");
  });
}
Value eye(int64_t N, std::optional<int64_t> M, int64_t k, std::optional<DType> dtype) {
  const int64_t columns = M.value_or(N);
  if (N < 0 || columns < 0)
    throw Error(ErrorKind::value_error, fmt::format("eye: extents must not be negative, got {} and {}", N, columns));
  const DType type = dtype.value_or(floatxDtype());
  return applyOne("eye", {}, [=](const List &) {
    Value mask = diagonalMask(ComparePredicate::eq, Shape({N, columns}), k);
    return asDtype(mask, type, "eye");
  });
}
Value tril(const Value &x, int64_t k) { return triangle("tril", ComparePredicate::le, x, k); }
Value triu(const Value &x, int64_t k) { return triangle("triu", ComparePredicate::ge, x, k); }

} // namespace halftone::ops

namespace halftone {
using namespace detail;

Value constant(const Tensor &data) {
  if (!data.defined())
    throw Error(ErrorKind::value_error, "constant of an undefined Tensor");
  const bool isRecorded = !Trace::current(); // a graph keeps the given elements
  if (data.size() <= 64)
    return applyOne("constant", {}, [kept = isRecorded ? TensorAccess::copy(data) : data](const std::vector<Value> &) {
      return tracing().literal(kept);
    });
  // Larger data are not embedded in the IR: they become a variable that no step writes.
  const Variable holder = makeVariable(data, {.name = "constant",
                                              .path = "constant",
                                              .role = VariableRole::constant,
                                              .update = UpdateKind::assign,
                                              .trainable = false,
                                              .autocast = false});
  return applyOne("constant", {}, [holder, dtype = data.dtype()](const std::vector<Value> &) {
    return tracing().read(holder.impl(), dtype);
  });
}

} // namespace halftone
