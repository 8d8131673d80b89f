// x[key], and x with other elements at a key: padded to x's shape and selected by its places.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/GetItem.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

Value keyed(const Value &x, std::span<const Index> key) {
  if (!isSymbolic(x))
    return applyOne("get_item", {x}, [key](const std::vector<Value> &v) { return getItem(v[0], key); });
  nlohmann::ordered_json arguments;
  arguments["args"] = {{{"input", 0}}, jsonOf(key)};
  arguments["kwargs"] = nlohmann::ordered_json::object();
  return callOperation("GetItem", {x}, ConfigAccess::make(std::move(arguments)), {})[0];
}

/// The numbers of the places of an axis, in the shape of x.
Value placesAlong(const Value &x, int64_t axis) { return tracing().iota(axis, x.shape(), indexDtype(x.shape()[axis])); }
Value compared(ComparePredicate predicate, const Value &x, int64_t with) {
  return tracing().compare(predicate, x, scalarLike(with, x));
}
/// The least of the places; there is at least one.
int64_t leastOf(const AxisPlaces &places) {
  return places.step > 0 ? places.start : places.start + places.step * (places.count - 1);
}

/// Adds to `mask`, undefined for all, which elements of x lie at the places of the axis.
void narrow(Value &mask, const Value &x, const AxisPlaces &places, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (places.count == extent)
    return;
  const auto both = [&mask](const Value &condition) {
    mask = mask.defined() ? tracing().binary("and", mask, condition) : condition;
  };
  const int64_t stride = std::abs(places.step), first = leastOf(places), last = first + stride * (places.count - 1);
  const Value along = placesAlong(x, axis);
  if (places.count == 1)
    return both(compared(ComparePredicate::eq, along, first));
  if (stride > 1) {
    const Value offset = tracing().binary("sub", along, scalarLike(first, along));
    both(compared(ComparePredicate::eq, tracing().binary("rem", offset, scalarLike(stride, offset)), 0));
  }
  if (first >= stride) // below it no other place fits
    both(compared(ComparePredicate::ge, along, first));
  if (last + stride < extent)
    both(compared(ComparePredicate::le, along, last));
}

/// The elements of y, one for each place, at those places; anything between them.
Value padded(const Value &y, int64_t extent, const AxisPlaces &places, int64_t axis) {
  Trace &t = tracing();
  if (places.step == 1) {
    const auto zeros = [&](int64_t count) {
      std::vector<int64_t> dims = y.shape().dims();
      dims[static_cast<size_t>(axis)] = count;
      return t.splat(0, Shape(std::move(dims)), y.dtype());
    };
    std::vector<Value> parts;
    if (places.start > 0)
      parts.push_back(zeros(places.start));
    parts.push_back(y);
    if (const int64_t after = extent - places.start - places.count; after > 0)
      parts.push_back(zeros(after));
    return parts.size() == 1 ? y : t.concat(parts, axis);
  }
  const Value along = t.iota(0, Shape({extent}), indexDtype(extent));
  Value index = t.binary("sub", along, scalarLike(leastOf(places), along));
  if (const int64_t stride = std::abs(places.step); stride > 1)
    index = t.binary("div", index, scalarLike(stride, index));
  if (places.step < 0)
    index = t.binary("sub", scalarLike(places.count - 1, index), index);
  return t.gather(y, index, axis); // clamps what lies outside
}

/// y in the shape of x: its elements at the places of the key, and anything elsewhere.
Value spread(const char *op, const Value &y, const Shape &shape, const KeyPlaces &places) {
  const Shape from = y.shape(), to = places.result();
  bool fits = from.rank() <= to.rank();
  for (int64_t i = 1; fits && i <= from.rank(); ++i)
    fits = from[-i] == 1 || from[-i] == to[-i];
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: the shape {} does not broadcast to {}, that of the elements at the key", op,
                            from.str(), to.str()));
  std::vector<int64_t> dims(places.axes.size(), 1); // those of y, along the axes of x
  for (int64_t i = 1; i <= from.rank(); ++i)
    if (const int64_t axis = places.kept[static_cast<size_t>(to.rank() - i)]; axis >= 0)
      dims[static_cast<size_t>(axis)] = from[-i];
  Value all = tracing().reshape(y, Shape(dims));
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] != 1) // a single element is repeated along the whole axis
      all = padded(all, shape[static_cast<int64_t>(axis)], places.axes[axis], static_cast<int64_t>(axis));
  return broadcastTo(all, shape);
}

Value updated(const char *op, const Value &x, std::span<const Index> key, const Operand &y, bool adds) {
  const KeyPlaces places = placesOf(key, x);
  Value inside = y.is_number() ? scalarLike(y.number(), x, op)
                               : spread(op, asDtype(y.value(), x.dtype(), "user"), x.shape(), places);
  if (places.region().elements() == 0)
    return x;
  if (adds)
    inside = tracing().binary(x.dtype() == DType::bool_ ? "or" : "add", x, inside);
  Value mask;
  for (size_t axis = 0; axis < places.axes.size(); ++axis)
    narrow(mask, x, places.axes[axis], static_cast<int64_t>(axis));
  return mask.defined() ? tracing().select(mask, inside, x) : inside;
}
Value update(const char *op, const Value &x, const std::vector<Index> &key, const Operand &y, bool adds) {
  return applyOperands(op, {x, y}, [op, key, adds](const std::vector<Operand> &v) {
    return updated(op, v[0].value(), key, v[1], adds);
  });
}

} // namespace

Value Value::operator[](const Index &key) const { return keyed(*this, {&key, 1}); }
Value Value::operator[](std::initializer_list<Index> key) const { return keyed(*this, {key.begin(), key.size()}); }
Value Value::operator[](const Value &indices) const { return ops::take(*this, indices, 0); }
Part Value::at(const Index &key) const { return Part(*this, {key}); }
Part Value::at(std::initializer_list<Index> key) const { return Part(*this, key); }

Part::Part(Value x, std::vector<Index> key) : x_(std::move(x)), key_(std::move(key)) {}
Value Part::set(const Operand &y) const { return update("x.at(key).set(y)", x_, key_, y, false); }
Value Part::add(const Operand &y) const { return update("x.at(key).add(y)", x_, key_, y, true); }

} // namespace halftone
