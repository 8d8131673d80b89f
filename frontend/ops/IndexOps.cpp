// keras.ops on Values: elements gathered, replaced and combined at dynamic indices.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/DynamicIndices.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// The smallest or the largest value of a dtype.
Number bound(DType dtype, bool isLowest) {
  if (is_float(dtype))
    return isLowest ? -HUGE_VAL : HUGE_VAL;
  if (dtype == DType::bool_)
    return !isLowest;
  const bool isUnsigned = name(dtype).starts_with("u");
  const auto bits = static_cast<int>(8 * itemsize(dtype)) - !isUnsigned;
  const uint64_t largest = ~uint64_t(0) >> (64 - bits);
  if (!isLowest)
    return largest;
  return isUnsigned ? Number(0) : Number(-static_cast<int64_t>(largest) - 1);
}

/// NaN, the smallest signed integer, the largest unsigned integer, or true: the values with which JAX fills
/// out-of-range elements.
Value fillerLike(const Value &x) {
  const DType dtype = x.dtype();
  if (is_float(dtype))
    return scalarLike(NAN, x);
  return scalarLike(bound(dtype, dtype != DType::bool_ && !name(dtype).starts_with("u")), x);
}

/// The neutral element of the operation.
Number neutral(ScatterKind kind, DType dtype) {
  if (kind == ScatterKind::max || kind == ScatterKind::min)
    return bound(dtype, kind == ScatterKind::max);
  return kind == ScatterKind::prod ? 1 : 0;
}

Shape without(const Shape &shape, int64_t axis) {
  std::vector<int64_t> dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return Shape(std::move(dims));
}
Shape with(const Shape &shape, int64_t axis, int64_t extent) {
  std::vector<int64_t> dims = shape.dims();
  dims.insert(dims.begin() + axis, extent);
  return Shape(std::move(dims));
}

/// The elements of x along an axis at the clamped indices `positions`, which have the rank of x.
Value takenAlong(const Value &x, const Value &positions, int64_t axis) {
  Trace &t = tracing();
  const int64_t extent = x.shape()[axis], count = positions.shape()[axis], last = x.rank() - 1;
  const Shape others = without(x.shape(), axis), ofPositions = without(positions.shape(), axis);
  if (ofPositions.elements() == 1) // the same indices for all other axes
    return broadcastTo(t.gather(x, t.reshape(positions, Shape({count})), axis),
                       with(broadcastShape("take_along_axis", others, ofPositions), axis, count));
  if (others.elements() == 1)
    return t.gather(t.reshape(x, Shape({extent})), positions, 0);
  const Shape batch = broadcastShape("take_along_axis", others, ofPositions);
  std::vector<int64_t> order(static_cast<size_t>(x.rank())), back(order.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  for (size_t position = 0; position < order.size(); ++position)
    back[static_cast<size_t>(order[position])] = static_cast<int64_t>(position);
  const auto moved = [&](const Value &y, const std::vector<int64_t> &axes) {
    return axis == last ? y : t.transpose(y, axes);
  };
  const Value from = moved(broadcastTo(x, with(batch, axis, extent)), order);
  const Value at = moved(broadcastTo(positions, with(batch, axis, count)), order);
  return moved(t.gather(from, at, last, last), back);
}

Value takeAlong(const Value &x, const Value &indices, int64_t axis) {
  if (x.rank() != indices.rank())
    throw Error(ErrorKind::value_error,
                fmt::format("take_along_axis: x of shape {} and indices of shape {}; expected the same rank",
                            x.shape().str(), indices.shape().str()));
  const int64_t along = normalizeAxis("take_along_axis", axis, x.rank()), extent = x.shape()[along];
  if (extent == 0)
    throw Error(ErrorKind::value_error,
                fmt::format("take_along_axis: axis {} of shape {} is empty", axis, x.shape().str()));
  const Value positions = wrapped(asIndices("take_along_axis", indices), extent);
  const Value found = takenAlong(x, positions, along);
  return tracing().select(broadcastTo(areInside(positions, extent), found.shape()), found, fillerLike(found));
}

/// The Values among the starts.
List valuesOf(const Starts &starts) {
  if (starts.vector().defined())
    return {starts.vector()};
  List values;
  for (const Operand &each : starts.each())
    if (!each.is_number())
      values.push_back(each.value());
  return values;
}
/// The starts with their Values replaced by those from `next` on.
Starts withValues(const Starts &starts, const List &values, size_t next) {
  if (starts.vector().defined())
    return values[next];
  std::vector<Operand> each;
  for (const Operand &operand : starts.each())
    each.push_back(operand.is_number() ? operand : Operand(values[next++]));
  return Starts(std::move(each));
}
/// The starts as an argument of a recorded call; their Values are its inputs from `next` on.
nlohmann::ordered_json jsonOf(const Starts &starts, size_t next) {
  if (starts.vector().defined())
    return {{"input", next}};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Operand &each : starts.each())
    list.push_back(each.is_number() ? ConfigAccess::json(each.number()) : nlohmann::ordered_json({{"input", next++}}));
  return list;
}
Value recordBox(const char *className, const Value &x, const Starts &starts, const Value &updates,
                const Config &config) {
  List inputs{x};
  nlohmann::ordered_json arguments, args = nlohmann::ordered_json::array({{{"input", 0}}, jsonOf(starts, 1)});
  for (const Value &value : valuesOf(starts))
    inputs.push_back(value);
  if (updates.defined()) {
    args.push_back({{"input", inputs.size()}});
    inputs.push_back(updates);
  }
  arguments["args"] = std::move(args);
  arguments["kwargs"] = nlohmann::ordered_json::object();
  return callOperation(className, inputs, ConfigAccess::make(std::move(arguments)), config)[0];
}
bool hasSymbolic(const Starts &starts) {
  return std::ranges::any_of(valuesOf(starts), [](const Value &v) { return isSymbolic(v); });
}

/// The shape of a box that extends to the end of an axis whose extent is none; the start there is a number.
Shape boxShape(const Starts &starts, const Shape &shape, const Shape &whole) {
  std::vector<int64_t> dims = shape.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] >= 0 || static_cast<int64_t>(axis) >= whole.rank())
      continue;
    if (starts.vector().defined() || axis >= starts.each().size() || !starts.each()[axis].is_number())
      throw Error(ErrorKind::value_error,
                  fmt::format("slice of shape {} from a Value along axis {}; expected its extent", shape.str(), axis));
    const Number &start = starts.each()[axis].number();
    dims[axis] = extentSum(whole[static_cast<int64_t>(axis)], -static_cast<int64_t>(start.bits()));
  }
  return Shape(std::move(dims));
}

/// A box at static start indices.
Value fixedSlice(const Value &x, const Shape &start, const Shape &shape) {
  Shape whole = x.shape();
  std::vector<int64_t> dims = shape.dims();
  bool fits = start.rank() == whole.rank() && shape.rank() == whole.rank();
  for (int64_t axis = 0; fits && axis < whole.rank(); ++axis) {
    int64_t &extent = dims[static_cast<size_t>(axis)];
    extent = extent < 0 ? whole[axis] - start[axis] : extent;
    fits = start[axis] >= 0 && extent >= 0 && extent <= whole[axis] - start[axis];
  }
  if (!fits)
    throw Error(ErrorKind::value_error, fmt::format("slice of shape {} from {} does not lie within shape {}",
                                                    shape.str(), start.str(), whole.str()));
  return Shape(dims) == whole ? x : tracing().slice(x, start.dims(), Shape(dims));
}
Shape shapeOf(const std::vector<Operand> &starts) {
  std::vector<int64_t> positions;
  for (const Operand &each : starts) {
    if (each.number().kind() == Number::Kind::real)
      throw Error(ErrorKind::type_error, "slice needs integer indices, got a number with a fraction");
    positions.push_back(static_cast<int64_t>(each.number().bits()));
  }
  return Shape(std::move(positions));
}

void requireNumbers(const char *op, const Value &x) {
  if (x.dtype() == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} takes numbers, got bool", op));
}

struct Segments {
  const char *op, *className;
  ScatterKind kind;
};

Value segments(const Segments &by, const Value &data, const Value &ids, int64_t count) {
  if (isSymbolic(data) || isSymbolic(ids))
    return recordOperation(by.className, {data, ids}, configOf("num_segments", count));
  return applyOne(by.op, {data, ids}, [by, count](const List &v) {
    const Shape shape = v[0].shape(), named = v[1].shape();
    if (named.rank() != 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: `segment_ids` should be a vector, got the shape {}", by.op, named.str()));
    if (shape.rank() == 0 || shape[0] != named[0])
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: `segment_ids` and `data` should have the same leading dimension, got {} and {}",
                              by.op, named.str(), shape.str()));
    if (count < 0)
      throw Error(ErrorKind::value_error, fmt::format("{}: num_segments must not be negative, got {}", by.op, count));
    if (by.kind == ScatterKind::sum || by.kind == ScatterKind::prod)
      requireNumbers(by.op, v[0]);
    const Value none = tracing().splat(neutral(by.kind, v[0].dtype()), with(without(shape, 0), 0, count), v[0].dtype());
    return scatteredRows(by.kind, none, asIndices(by.op, v[1]), v[0]);
  });
}

} // namespace

Value take_along_axis(const Value &x, const Value &indices, std::optional<int64_t> axis) {
  if (isSymbolic(x) || isSymbolic(indices))
    return recordOperation("TakeAlongAxis", {x, indices}, axis ? configOf("axis", *axis) : Config());
  return applyOne("take_along_axis", {x, indices}, [axis](const List &v) {
    if (axis)
      return takeAlong(v[0], v[1], *axis);
    if (v[1].rank() != 1)
      throw Error(ErrorKind::value_error, fmt::format("take_along_axis without an axis: indices of shape {}; expected "
                                                      "a vector",
                                                      v[1].shape().str()));
    return takeAlong(reshape(v[0], {none}), v[1], 0);
  });
}

Value slice(const Value &x, const Starts &start, const Shape &shape) {
  if (isSymbolic(x) || hasSymbolic(start))
    return recordBox("Slice", x, start, {}, configOf("shape", shape.dims()));
  List inputs = valuesOf(start);
  const bool isFixed = inputs.empty();
  inputs.insert(inputs.begin(), x);
  return applyOne("slice", inputs, [start, shape, isFixed](const List &v) {
    if (isFixed)
      return fixedSlice(v[0], shapeOf(start.each()), shape);
    const Starts starts = withValues(start, v, 1);
    const Shape box = boxShape(starts, shape, v[0].shape());
    return boxAt(v[0], startsOf("slice", starts, v[0].shape(), box), box);
  });
}

Value slice_update(const Value &x, const Starts &start, const Value &updates) {
  if (isSymbolic(x) || hasSymbolic(start) || isSymbolic(updates))
    return recordBox("SliceUpdate", x, start, updates, {});
  List inputs = valuesOf(start);
  inputs.insert(inputs.begin(), {x, updates});
  return applyOne("slice_update", inputs, [start](const List &v) {
    if (v[0].dtype() != v[1].dtype())
      throw Error(ErrorKind::type_error, fmt::format("slice_update of {} by updates in {}; expected the same dtype",
                                                     name(v[0].dtype()), name(v[1].dtype())));
    return withBoxAt(v[0], startsOf("slice_update", withValues(start, v, 2), v[0].shape(), v[1].shape()), v[1]);
  });
}

Value scatter(const Value &indices, const Value &values, const Shape &shape) {
  if (isSymbolic(indices) || isSymbolic(values))
    return recordOperation("Scatter", {indices, values}, configOf("shape", shape.dims()));
  return applyOne("scatter", {indices, values}, [shape](const List &v) {
    requireNumbers("scatter", v[1]);
    return updatedAt("scatter", ScatterKind::sum, tracing().splat(0, shape, v[1].dtype()), v[0], v[1]);
  });
}

Value scatter_update(const Value &inputs, const Value &indices, const Value &updates,
                     const std::optional<Choice<ScatterReduction>> &reduction) {
  if (isSymbolic(inputs) || isSymbolic(indices) || isSymbolic(updates))
    return recordOperation("ScatterUpdate", {inputs, indices, updates},
                           reduction ? configOf("reduction", std::string(reduction->word())) : Config());
  return applyOne("scatter_update", {inputs, indices, updates}, [reduction](const List &v) {
    if (v[1].rank() != 2)
      throw Error(
          ErrorKind::value_error,
          fmt::format("scatter_update: indices of shape {}; expected (number of updates, n)", v[1].shape().str()));
    constexpr ScatterKind kinds[] = {ScatterKind::sum, ScatterKind::max, ScatterKind::min, ScatterKind::prod};
    const ScatterKind kind = reduction ? kinds[static_cast<size_t>(ScatterReduction(*reduction))] : ScatterKind::set;
    if (kind == ScatterKind::sum || kind == ScatterKind::prod)
      requireNumbers("scatter_update", v[0]);
    return updatedAt("scatter_update", kind, v[0], v[1], v[2]);
  });
}

Value segment_sum(const Value &data, const Value &segment_ids, int64_t num_segments) {
  return segments({"segment_sum", "SegmentSum", ScatterKind::sum}, data, segment_ids, num_segments);
}
Value segment_max(const Value &data, const Value &segment_ids, int64_t num_segments) {
  return segments({"segment_max", "SegmentMax", ScatterKind::max}, data, segment_ids, num_segments);
}
Value segment_min(const Value &data, const Value &segment_ids, int64_t num_segments) {
  return segments({"segment_min", "SegmentMin", ScatterKind::min}, data, segment_ids, num_segments);
}
Value segment_prod(const Value &data, const Value &segment_ids, int64_t num_segments) {
  return segments({"segment_prod", "SegmentProd", ScatterKind::prod}, data, segment_ids, num_segments);
}

} // namespace halftone::ops
