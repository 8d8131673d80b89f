// keras.ops on Values: search by comparisons, and counts of numbers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/DynamicIndices.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <bit>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value isNan(const Value &x) { return tracing().compare(ComparePredicate::ne, x, x); }

/// Whether elements of the sequence precede the values: they are less or, with `right`, not greater. NaN is the largest
/// value.
Value precedes(const Value &elements, const Value &values, Side side) {
  Trace &t = tracing();
  Value before = t.compare(side == Side::left ? ComparePredicate::lt : ComparePredicate::le, elements, values);
  if (!is_float(elements.dtype()))
    return before;
  const Value isLast = side == Side::left ? t.unary("not", isNan(elements)) : scalarLike(true, before);
  return t.binary("or", before, t.binary("and", isNan(values), isLast));
}

/// A sequence of up to this many elements is searched exhaustively.
constexpr int64_t maxCompared = 64;

Value countBefore(const Value &sequence, const Value &values, Side side) {
  std::vector<int64_t> dims = values.shape().dims();
  dims.push_back(sequence.shape()[0]);
  const Shape shape(std::move(dims));
  const Value before = precedes(broadcastTo(sequence, shape), broadcastTo(expand_dims(values, -1), shape), side);
  return sum(asDtype(before, DType::int32, "searchsorted"), -1);
}

/// A binary search, bit by bit from the highest: an index advances by a step if the element before it then precedes the
/// value.
Value searchBefore(const Value &sequence, const Value &values, Side side) {
  Trace &t = tracing();
  const int64_t count = sequence.shape()[0];
  Value found = t.splat(0, values.shape(), DType::int32);
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count))); step > 0; step /= 2) {
    const Value next = t.binary("add", found, scalarLike(step, found));
    const Value last = t.gather(sequence, t.binary("sub", next, scalarLike(1, next)), 0); // clamps
    const Value isIndex = t.compare(ComparePredicate::le, next, scalarLike(count, next));
    found = t.select(t.binary("and", isIndex, precedes(last, values, side)), next, found);
  }
  return found;
}

} // namespace

Value searchsorted(const Value &sorted_sequence, const Value &values, const Choice<Side> &side) {
  if (isSymbolic(sorted_sequence) || isSymbolic(values))
    return recordOperation("SearchSorted", {sorted_sequence, values}, configOf("side", std::string(side.word())));
  return applyOne("searchsorted", {sorted_sequence, values}, [side](const List &v) {
    if (v[0].rank() != 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("`searchsorted` only supports 1-D sorted sequences. Received: sorted_sequence.shape={}",
                              v[0].shape().str()));
    const DType dtype = numberOf(v[0].dtype() == v[1].dtype() ? v[0].dtype() : result_type(v[0].dtype(), v[1].dtype()));
    const Value sequence = asDtype(v[0], dtype), sought = asDtype(v[1], dtype);
    return sequence.shape()[0] <= maxCompared ? countBefore(sequence, sought, side)
                                              : searchBefore(sequence, sought, side);
  });
}

static Value counts(const List &inputs, int64_t minlength) {
  return applyOne("bincount", inputs, [minlength](const List &v) {
    if (minlength < 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("bincount: minlength, the number of bins, must be positive, got {}", minlength));
    const Shape shape = v[0].shape();
    if (shape.rank() != 1 && shape.rank() != 2)
      throw Error(ErrorKind::value_error, fmt::format("bincount of shape {}; expected one or two axes", shape.str()));
    const Value given = asIndices("bincount", v[0]);
    const Value weights = v.size() > 1 ? asNumber(v[1]) : tracing().splat(1, shape, DType::int32);
    if (weights.shape() != shape)
      throw Error(ErrorKind::value_error, fmt::format("bincount: x of shape {} and weights of shape {}, which differ",
                                                      shape.str(), weights.shape().str()));
    std::vector<int64_t> dims = shape.dims();
    dims.back() = minlength;
    const int64_t batch = shape.rank() - 1;
    const Value least = tracing().binary("maximum", given, scalarLike(0, given));
    return tracing().scatter(ScatterKind::sum, tracing().splat(0, Shape(std::move(dims)), weights.dtype()), least,
                             weights, batch, batch);
  });
}
Value bincount(const Value &x, const Value &weights, int64_t minlength) { return counts({x, weights}, minlength); }
Value bincount(const Value &x, int64_t minlength) {
  return isSymbolic(x) ? recordOperation("Bincount", {x}, configOf("minlength", minlength)) : counts({x}, minlength);
}

} // namespace halftone::ops
