// Boxes at dynamic positions, by one gather over the axes that the box does not fill.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/DynamicIndices.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Error.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

using List = std::vector<Value>;

Value asIndices(const char *op, const Value &indices) {
  const DType dtype = indices.dtype();
  if (is_float(dtype) || dtype == DType::bool_)
    throw Error(ErrorKind::type_error, fmt::format("{} needs integer indices, got {}", op, name(dtype)));
  const bool isWide = itemsize(dtype) > 4 || dtype == DType::uint32;
  return asDtype(indices, isWide ? DType::int64 : DType::int32, "index");
}

Value wrapped(const Value &indices, int64_t extent) {
  Trace &t = tracing();
  const Value isBelow = t.compare(ComparePredicate::lt, indices, scalarLike(0, indices));
  return t.select(isBelow, t.binary("add", indices, scalarLike(extent, indices)), indices);
}

Value areInside(const Value &indices, int64_t extent) {
  Trace &t = tracing();
  return t.binary("and", t.compare(ComparePredicate::ge, indices, scalarLike(0, indices)),
                  t.compare(ComparePredicate::lt, indices, scalarLike(extent, indices)));
}

namespace {

/// The axes of a tensor from the first to the last that a box does not fill, collapsed to one.
struct Between {
  Between(const Shape &whole, const Shape &box) {
    while (begin < whole.rank() && whole[begin] == box[begin])
      ++begin;
    end = whole.rank();
    while (end > begin && whole[end - 1] == box[end - 1])
      --end;
  }
  Shape among(const Shape &shape) const {
    return Shape(std::vector<int64_t>(shape.dims().begin() + begin, shape.dims().begin() + end));
  }
  /// The shape with these axes replaced by one of `extent`.
  Shape joined(const Shape &shape, int64_t extent) const {
    std::vector<int64_t> dims = shape.dims();
    dims.erase(dims.begin() + begin, dims.begin() + end);
    dims.insert(dims.begin() + begin, extent);
    return Shape(std::move(dims));
  }
  int64_t begin = 0, end = 0;
};

/// The linear index over `axes`, in row-major order of `extents`, of the indices that `coordinate` returns.
template <class F> Value linear(const Between &axes, const Shape &extents, F coordinate) {
  Trace &t = tracing();
  Value sum;
  int64_t stride = 1;
  for (int64_t axis = axes.end; axis-- > axes.begin; stride *= extents[axis]) {
    Value term = coordinate(axis);
    if (stride != 1)
      term = t.binary("mul", term, scalarLike(stride, term));
    sum = sum.defined() ? t.binary("add", sum, term) : term;
  }
  return sum;
}

Value boxOf(const Value &x, const List &starts, const Shape &shape) {
  Trace &t = tracing();
  const Between axes(x.shape(), shape);
  const Shape among = axes.among(shape);
  const Value index = linear(axes, x.shape(), [&](int64_t axis) {
    const Value &start = starts[static_cast<size_t>(axis)];
    return t.binary("add", t.iota(axis - axes.begin, among, start.dtype()), broadcastTo(start, among));
  });
  const int64_t extent = axes.among(x.shape()).elements();
  return t.gather(t.reshape(x, axes.joined(x.shape(), extent)), index, axes.begin);
}

Value withBoxOf(const Value &x, const List &starts, const Value &box, bool isCotangent) {
  Trace &t = tracing();
  const Shape whole = x.shape(), shape = box.shape();
  const Between axes(whole, shape);
  const auto among = axes.among(whole);
  const auto positionIn = [&](int64_t axis, const Shape &of, int64_t at) {
    const Value &start = starts[static_cast<size_t>(axis)];
    return t.binary("sub", t.iota(at, of, start.dtype()), broadcastTo(start, of));
  };
  Value inside;
  for (int64_t axis = axes.begin; axis < axes.end; ++axis)
    if (shape[axis] != whole[axis]) {
      const Value here = areInside(positionIn(axis, whole, axis), shape[axis]);
      inside = inside.defined() ? t.binary("and", inside, here) : here;
    }
  const Value index = linear(axes, shape, [&](int64_t axis) { return positionIn(axis, among, axis - axes.begin); });
  const Shape joined = axes.joined(shape, axes.among(shape).elements());
  Value found = t.gather(t.reshape(box, joined), index, axes.begin);
  if (is_float(box.dtype()) && !isCotangent)
    found = t.customGradient(found, {box}, [&](const Value &upstream) { return List{boxOf(upstream, starts, shape)}; });
  return t.select(inside, found, x);
}

} // namespace

std::vector<Value> startsOf(const char *op, const Starts &starts, const Shape &whole, const Shape &box) {
  Trace &t = tracing();
  bool fits = box.rank() == whole.rank();
  for (int64_t axis = 0; fits && axis < whole.rank(); ++axis)
    fits = box[axis] >= 0 && box[axis] <= whole[axis];
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: a box of shape {} does not fit in shape {}", op, box.str(), whole.str()));
  const Value &vector = starts.vector();
  const auto count = static_cast<int64_t>(starts.each().size());
  if (vector.defined() ? vector.shape() != Shape({whole.rank()}) : count != whole.rank())
    throw Error(ErrorKind::value_error,
                fmt::format("{}: {} for shape {}; expected an index for each axis", op,
                            vector.defined() ? fmt::format("a start of shape {}", vector.shape().str())
                                             : fmt::format("{} starts", count),
                            whole.str()));
  List given;
  for (int64_t axis = 0; axis < whole.rank(); ++axis) {
    if (vector.defined()) {
      given.push_back(t.reshape(t.slice(asIndices(op, vector), {axis}, Shape({1})), Shape()));
    } else if (const Operand &each = starts.each()[static_cast<size_t>(axis)]; each.is_number()) {
      given.push_back(asIndices(op, t.splat(each.number(), Shape(), numberDtype(each.number(), DType::bool_))));
    } else if (each.value().shape().elements() == 1) {
      given.push_back(t.reshape(asIndices(op, each.value()), Shape()));
    } else {
      throw Error(ErrorKind::value_error, fmt::format("{}: a start of shape {} among others; expected a scalar", op,
                                                      each.value().shape().str()));
    }
  }
  const bool isWide = std::ranges::any_of(given, [](const Value &each) { return each.dtype() == DType::int64; });
  const DType dtype = isWide ? DType::int64 : indexDtype(whole.elements());
  for (int64_t axis = 0; axis < whole.rank(); ++axis) {
    Value &at = given[static_cast<size_t>(axis)];
    at = wrapped(asDtype(at, dtype, "index"), whole[axis]);
    at = t.binary("maximum", at, scalarLike(0, at));
    at = t.binary("minimum", at, scalarLike(whole[axis] - box[axis], at));
  }
  return given;
}

Value boxAt(const Value &x, const std::vector<Value> &starts, const Shape &shape) {
  if (shape == x.shape())
    return x;
  if (shape.elements() == 0)
    return tracing().splat(0, shape, x.dtype());
  Value found = boxOf(x, starts, shape);
  if (!is_float(x.dtype()))
    return found;
  const Shape whole = x.shape();
  return tracing().customGradient(found, {x}, [&](const Value &upstream) {
    return List{withBoxOf(tracing().splat(0, whole, upstream.dtype()), starts, upstream, true)};
  });
}

Value withBoxAt(const Value &x, const std::vector<Value> &starts, const Value &box) {
  if (box.shape() == x.shape())
    return box;
  return box.shape().elements() == 0 ? x : withBoxOf(x, starts, box, false);
}

namespace {

/// The updates of an operation with one index each: the first axes of x are collapsed to one, which the index
/// addresses.
struct LinearUpdates {
  Value x, index, updates;
};

/// `indices` (..., n) select slices of x by its first n axes; the updates are broadcast to them.
LinearUpdates linearUpdates(const char *op, const Value &x, const Value &indices, const Value &updates) {
  Trace &t = tracing();
  const Shape whole = x.shape(), named = indices.shape();
  const int64_t depth = named.rank() == 0 ? -1 : named[-1];
  if (depth < 1 || depth > whole.rank())
    throw Error(ErrorKind::value_error,
                fmt::format("{}: indices of shape {} for shape {}; expected (..., n) with an index for each of the "
                            "first n axes",
                            op, named.str(), whole.str()));
  std::vector<int64_t> slices = std::vector<int64_t>(named.dims().begin(), named.dims().end() - 1), rows, inner;
  for (int64_t axis = 0; axis < whole.rank(); ++axis)
    (axis < depth ? rows : inner).push_back(whole[axis]);
  const int64_t extent = extentProduct(rows), count = Shape(slices).elements();
  std::vector<int64_t> to = slices;
  to.insert(to.end(), inner.begin(), inner.end());
  const Value in = asIndices(op, indices), given = broadcastTo(asDtype(updates, x.dtype(), "user"), Shape(to));
  const Value typed = asDtype(in, in.dtype() == DType::int64 ? DType::int64 : indexDtype(extent), "index");
  Value index, inside;
  int64_t stride = 1;
  for (int64_t axis = depth; axis-- > 0; stride *= rows[static_cast<size_t>(axis)]) {
    std::vector<int64_t> start(static_cast<size_t>(named.rank()), 0), one = slices;
    start.back() = axis;
    one.push_back(1);
    Value at = depth == 1 ? typed : t.slice(typed, start, Shape(one));
    at = wrapped(t.reshape(at, Shape({count})), rows[static_cast<size_t>(axis)]);
    const Value here = areInside(at, rows[static_cast<size_t>(axis)]);
    inside = inside.defined() ? t.binary("and", inside, here) : here;
    const Value step = stride == 1 ? at : t.binary("mul", at, scalarLike(stride, at));
    index = index.defined() ? t.binary("add", index, step) : step;
  }
  if (depth > 1) // with depth 1, an index out of range of its axis is out of range of x
    index = t.select(inside, index, scalarLike(-1, index));
  const auto flat = [&](const Value &y, int64_t first) {
    std::vector<int64_t> dims = inner;
    dims.insert(dims.begin(), first);
    return t.reshape(y, Shape(std::move(dims)));
  };
  return {flat(x, extent), index, flat(given, count)};
}

} // namespace

Value scatteredRows(ScatterKind kind, const Value &x, const Value &index, const Value &updates) {
  const DType dtype = x.dtype();
  const DType computed = dtype == DType::bool_                     ? DType::uint8
                         : is_float(dtype) && itemsize(dtype) == 1 ? DType::float32
                                                                   : dtype;
  const auto cast = [&](const Value &y, DType to) { return asDtype(y, to, "scatter"); };
  return cast(tracing().scatter(kind, cast(x, computed), index, cast(updates, computed), 0), dtype);
}

Value updatedAt(const char *op, ScatterKind kind, const Value &x, const Value &indices, const Value &updates) {
  const LinearUpdates all = linearUpdates(op, x, indices, updates);
  return tracing().reshape(scatteredRows(kind, all.x, all.index, all.updates), x.shape());
}

} // namespace halftone::detail
