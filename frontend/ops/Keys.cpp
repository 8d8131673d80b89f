// x[key], and x with replaced elements at a key, by padding to x's shape and selection.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/DynamicIndices.h"
#include "frontend/ops/GetItem.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value keyed(const Value &x, std::span<const Index> key) {
  if (!isSymbolic(x))
    return applyOne("get_item", {x}, [key](const List &v) { return getItem(v[0], key); });
  nlohmann::ordered_json arguments;
  arguments["args"] = {{{"input", size_t(0)}}, jsonOf(key)};
  arguments["kwargs"] = nlohmann::ordered_json::object();
  return callOperation("GetItem", {x}, ConfigAccess::make(std::move(arguments)), {})[0];
}

/// The indices along an axis, in the shape of x.
Value indicesAlong(const Value &x, int64_t axis) {
  return tracing().iota(axis, x.shape(), indexDtype(x.shape()[axis]));
}
Value compared(ComparePredicate predicate, const Value &x, int64_t with) {
  return tracing().compare(predicate, x, scalarLike(with, x));
}
/// The smallest selected index; there is at least one.
int64_t leastOf(const AxisRange &range) {
  return range.step > 0 ? range.start : range.start + range.step * (range.count - 1);
}

/// Narrows `mask`, undefined for all, to the elements of x that the axis selects.
void narrow(Value &mask, const Value &x, const AxisRange &range, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (range.count == extent)
    return;
  const auto both = [&mask](const Value &condition) {
    mask = mask.defined() ? tracing().binary("and", mask, condition) : condition;
  };
  const int64_t stride = std::abs(range.step), first = leastOf(range), last = first + stride * (range.count - 1);
  const Value along = indicesAlong(x, axis);
  if (range.count == 1)
    return both(compared(ComparePredicate::eq, along, first));
  if (stride > 1) {
    const Value offset = tracing().binary("sub", along, scalarLike(first, along));
    both(compared(ComparePredicate::eq, tracing().binary("rem", offset, scalarLike(stride, offset)), 0));
  }
  if (first >= stride) // no other index fits below it
    both(compared(ComparePredicate::ge, along, first));
  if (last < extent - stride)
    both(compared(ComparePredicate::le, along, last));
}

/// Pads y with zeros along an axis, so that its elements are at the selected indices, which are adjacent.
Value padded(const Value &y, int64_t extent, const AxisRange &range, int64_t axis) {
  const auto zeros = [&](int64_t count) {
    std::vector<int64_t> dims = y.shape().dims();
    dims[static_cast<size_t>(axis)] = count;
    return tracing().splat(0, Shape(std::move(dims)), y.dtype());
  };
  std::vector<Value> parts;
  if (range.start > 0)
    parts.push_back(zeros(range.start));
  parts.push_back(y);
  if (const int64_t after = extent - range.start - range.count; after > 0)
    parts.push_back(zeros(after));
  return tracing().concat(parts, axis);
}

/// The ordinal of `position` among the selected indices, if it is one of them.
Value ordinal(const Value &position, const AxisRange &range) {
  Trace &t = tracing();
  Value found = t.binary("sub", position, scalarLike(leastOf(range), position));
  if (const int64_t stride = std::abs(range.step); stride > 1)
    found = t.binary("div", found, scalarLike(stride, found));
  return range.step > 0 ? found : t.binary("sub", scalarLike(range.count - 1, found), found);
}

/// The cotangent of y, of shape `to`: the cotangent's elements at the selected indices, summed along axes on which y is
/// broadcast.
Value derivative(const Value &upstream, const std::vector<AxisRange> &axes, const Shape &to) {
  std::vector<AxisRange> ranges = axes;
  std::vector<int64_t> repeated;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (const auto position = static_cast<int64_t>(axis); to[position] == 1 && upstream.shape()[position] != 1) {
      ranges[axis] = {0, upstream.shape()[position], 1};
      repeated.push_back(position);
    }
  Value found = elementsAt(upstream, ranges);
  if (repeated.empty())
    return found;
  const Value sum = tracing().reduce(ReduceKind::sum, found, repeated, atLeastFloat32(found.dtype()));
  return tracing().reshape(asDtype(sum, found.dtype()), to);
}

/// Expands y, of the rank of `shape`, to those extents: its elements are at the selected indices, a single one along an
/// axis is repeated, and other elements are arbitrary. Uses one gather over the axes from the first to the last that
/// differ, so that a kernel computes each element when it reads it.
Value lookedUp(const Value &y, const Shape &shape, const std::vector<AxisRange> &axes) {
  Trace &t = tracing();
  const std::vector<int64_t> &extents = shape.dims();
  const std::vector<int64_t> counts = y.shape().dims();
  const auto isWhole = [&](size_t axis) { return counts[axis] == extents[axis] && axes[axis].step == 1; };
  size_t first = 0, end = axes.size();
  while (isWhole(first))
    ++first;
  while (isWhole(end - 1))
    --end;
  const auto from = static_cast<ptrdiff_t>(first), to = static_cast<ptrdiff_t>(end);
  const Shape among(std::vector<int64_t>(extents.begin() + from, extents.begin() + to));
  Value index;
  int64_t inner = 1; // elements of the inner axes
  for (size_t axis = end; axis-- > first; inner *= counts[axis]) {
    if (counts[axis] == 1)
      continue;
    const Value position = t.iota(static_cast<int64_t>(axis - first), among, indexDtype(among.elements()));
    const Value along = ordinal(position, axes[axis]);
    const Value step = inner == 1 ? along : t.binary("mul", along, scalarLike(inner, along));
    index = index.defined() ? t.binary("add", index, step) : step;
  }
  std::vector<int64_t> dims(counts.begin(), counts.begin() + from);
  dims.push_back(inner);
  dims.insert(dims.end(), counts.begin() + to, counts.end());
  Value found = t.gather(t.reshape(y, Shape(std::move(dims))), index, static_cast<int64_t>(first)); // clamps
  if (!is_float(y.dtype()))
    return found;
  return t.customGradient(found, {y},
                          [&](const Value &upstream) { return List{derivative(upstream, axes, y.shape())}; });
}

void requireFits(const char *op, const Shape &from, const Shape &to) {
  bool fits = from.rank() <= to.rank();
  for (int64_t i = 1; fits && i <= from.rank(); ++i)
    fits = from[-i] == 1 || from[-i] == to[-i];
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: the shape {} does not broadcast to {}, that of the elements at the key", op,
                            from.str(), to.str()));
}

/// Expands the non-empty y to the shape of x: its elements are where the key selects, and other elements are arbitrary.
Value spread(const Value &y, const Shape &shape, const KeyRanges &ranges) {
  const Shape from = y.shape();
  std::vector<AxisRange> axes(ranges.axes.size(), {0, 1, 1});
  std::vector<int64_t> counts(axes.size(), 1), narrowed; // of y along the axes of x; axes along which y is padded
  bool isRepeated = false;
  for (int64_t i = 1; i <= from.rank(); ++i)
    if (const int64_t axis = ranges.kept[ranges.kept.size() - static_cast<size_t>(i)]; axis >= 0 && from[-i] != 1) {
      const auto position = static_cast<size_t>(axis);
      axes[position] = ranges.axes[position];
      counts[position] = from[-i];
      if (axes[position].count != shape[axis] || axes[position].step != 1)
        narrowed.push_back(axis);
    }
  for (size_t axis = 0; axis < counts.size(); ++axis)
    isRepeated = isRepeated || (counts[axis] == 1 && shape[static_cast<int64_t>(axis)] != 1);
  const Shape dims(std::move(counts));
  const Value all = dims == from ? y : tracing().reshape(y, dims);
  if (narrowed.empty())
    return broadcastTo(all, shape);
  const AxisRange &along = axes[static_cast<size_t>(narrowed[0])];
  if (narrowed.size() > 1 || along.step != 1 || isRepeated)
    return lookedUp(all, shape, axes);
  return padded(all, shape[narrowed[0]], along, narrowed[0]);
}

Value updated(const char *op, const Value &x, std::span<const Index> key, const Operand &y, bool adds) {
  const KeyRanges ranges = rangesOf(key, x);
  if (y.is_number())
    requireHolds(op, x.dtype(), y.number());
  else
    requireFits(op, y.value().shape(), ranges.result());
  if (ranges.region().elements() == 0)
    return x;
  Value inside =
      y.is_number() ? scalarLike(y.number(), x) : spread(asDtype(y.value(), x.dtype(), "user"), x.shape(), ranges);
  if (adds)
    inside = tracing().binary(x.dtype() == DType::bool_ ? "or" : "add", x, inside);
  Value mask;
  for (size_t axis = 0; axis < ranges.axes.size(); ++axis)
    narrow(mask, x, ranges.axes[axis], static_cast<int64_t>(axis));
  return mask.defined() ? tracing().select(mask, inside, x) : inside;
}
Value update(const char *op, const Value &x, const std::vector<Index> &key, const Operand &y, bool adds) {
  return applyOperands(op, {x, y}, [op, key, adds](const std::vector<Operand> &v) {
    return updated(op, v[0].value(), key, v[1], adds);
  });
}

/// Bools are added with `or`.
Value updateRows(const char *op, const Value &x, const Value &indices, const Operand &y, bool adds) {
  return applyOperands(op, {x, indices, y}, [op, adds](const std::vector<Operand> &v) {
    const Value &whole = v[0].value();
    if (v[2].is_number())
      requireHolds(op, whole.dtype(), v[2].number());
    const Value updates = v[2].is_number() ? tracing().splat(v[2].number(), Shape(), whole.dtype()) : v[2].value();
    const ScatterKind kind = !adds                           ? ScatterKind::set
                             : whole.dtype() == DType::bool_ ? ScatterKind::max
                                                             : ScatterKind::sum;
    return updatedAt(op, kind, whole, ops::expand_dims(v[1].value(), -1), updates);
  });
}

} // namespace

Value Value::operator[](const Index &key) const { return keyed(*this, {&key, 1}); }
Value Value::operator[](std::initializer_list<Index> key) const { return keyed(*this, {key.begin(), key.size()}); }
Value Value::operator[](const Value &indices) const { return ops::take(*this, indices, 0); }
Part Value::at(const Index &key) const { return Part(*this, {key}); }
Part Value::at(std::initializer_list<Index> key) const { return Part(*this, key); }

Part Value::at(const Value &indices) const { return Part(*this, {}, indices); }

Part::Part(Value x, std::vector<Index> key, Value indices)
    : x_(std::move(x)), key_(std::move(key)), indices_(std::move(indices)) {}
Value Part::set(const Operand &y) const {
  constexpr const char *op = "x.at(key).set(y)";
  return indices_.defined() ? updateRows(op, x_, indices_, y, false) : update(op, x_, key_, y, false);
}
Value Part::add(const Operand &y) const {
  constexpr const char *op = "x.at(key).add(y)";
  return indices_.defined() ? updateRows(op, x_, indices_, y, true) : update(op, x_, key_, y, true);
}

} // namespace halftone
