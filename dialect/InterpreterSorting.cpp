// The interpreter's sort.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include <algorithm>

using namespace mlir;

namespace halftone::dialect {

namespace {

/// A sort key, in ascending order. NaN is a class of its own, before or after all numbers. In descending order the
/// numbers are negated.
template <class Number> using Key = std::pair<int, Number>;

/// The smallest and the largest key that each element of a row may have.
template <class Number> struct Keys {
  std::vector<Key<Number>> first, last;
  bool areExact() const { return first == last; }
};

Key<double> keyOf(double value, bool descending) {
  if (std::isnan(value))
    return {descending ? -1 : 1, 0};
  return {0, descending ? -value : value};
}

Keys<double> realKeys(const TensorData &x, ArrayRef<int64_t> row, bool descending) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Keys<double> keys;
  for (int64_t at : row) {
    Interval value = realAt(x, at);
    if (value.isAny())
      value = {-infinity, std::numeric_limits<double>::quiet_NaN()};
    keys.first.push_back(keyOf(descending ? value.high : value.low, descending));
    keys.last.push_back(keyOf(descending ? value.low : value.high, descending));
  }
  return keys;
}

Keys<Int> wholeKeys(const TensorData &x, ArrayRef<int64_t> row, bool descending) {
  const IntFormat format(x.type.getElementType());
  Keys<Int> keys;
  for (int64_t at : row) {
    const IntInterval value = wholeAt(x, at, format);
    keys.first.push_back({0, descending ? -value.high : value.low});
    keys.last.push_back({0, descending ? -value.low : value.high});
  }
  return keys;
}

/// The interval of values with a key between the two.
Interval between(Key<double> first, Key<double> last, bool descending) {
  const bool startsWithNan = first.first != 0, endsWithNan = last.first != 0;
  if (startsWithNan || endsWithNan)
    return startsWithNan && endsWithNan ? Interval::nan() : Interval::any();
  return descending ? Interval{-last.second, -first.second} : Interval{first.second, last.second};
}

IntInterval between(Key<Int> first, Key<Int> last, bool descending) {
  return descending ? IntInterval{-last.second, -first.second} : IntInterval{first.second, last.second};
}

/// For each position of the sorted row, the first and the last index whose element may be there.
template <class Number> std::vector<IntInterval> indicesOf(const Keys<Number> &keys) {
  using Placed = std::pair<Key<Number>, int64_t>; // equal elements keep their order
  const auto count = static_cast<int64_t>(keys.first.size());
  std::vector<Placed> firsts, lasts;
  for (int64_t i = 0; i < count; ++i) {
    firsts.push_back({keys.first[i], i});
    lasts.push_back({keys.last[i], i});
  }
  const std::vector<Placed> ownFirsts = firsts, ownLasts = lasts;
  llvm::sort(firsts);
  llvm::sort(lasts);
  std::vector<IntInterval> indices(count, IntInterval{count, -1});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t before = std::lower_bound(lasts.begin(), lasts.end(), ownFirsts[i]) - lasts.begin();
    const int64_t end = std::upper_bound(firsts.begin(), firsts.end(), ownLasts[i]) - firsts.begin();
    for (int64_t position = before; position < end; ++position)
      indices[position] = {std::min<Int>(indices[position].low, i), std::max<Int>(indices[position].high, i)};
  }
  return indices;
}

/// Sorts the row of x at the linear indices `row`; element k of the results is at `to[k]`.
template <class Number>
void sortRow(const Keys<Number> &keys, const TensorData &x, ArrayRef<int64_t> row, ArrayRef<int64_t> to,
             bool descending, TensorWriter &values, TensorWriter &positions) {
  const std::vector<IntInterval> indices = indicesOf(keys);
  Keys<Number> sorted = keys;
  llvm::sort(sorted.first);
  llvm::sort(sorted.last);
  for (size_t position = 0; position < to.size(); ++position) {
    positions.whole(to[position], indices[position]);
    if (keys.areExact()) // preserves the sign of a zero
      values.copy(to[position], x, row[static_cast<size_t>(indices[position].low)]);
    else if constexpr (std::is_same_v<Number, double>)
      values.real(to[position], between(sorted.first[position], sorted.last[position], descending));
    else
      values.whole(to[position], between(sorted.first[position], sorted.last[position], descending));
  }
}

} // namespace

std::vector<TensorData> evaluateSort(SortOp op, const TensorData &x) {
  auto type = cast<RankedTensorType>(op.getValues().getType());
  const auto axis = static_cast<int64_t>(op.getAxis());
  const bool descending = op.getDescending();
  TensorWriter values(type), indices(op.getIndices().getType());
  SmallVector<int64_t> shape(x.type.getShape());
  const SmallVector<int64_t> steps = stridesOf(shape), resultSteps = stridesOf(type.getShape());
  shape[axis] = 1;
  forEachPoint(shape, {steps, resultSteps}, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> row, to;
    for (int64_t i = 0; i < x.type.getDimSize(axis); ++i)
      row.push_back(at[0] + i * steps[axis]);
    for (int64_t i = 0; i < type.getDimSize(axis); ++i)
      to.push_back(at[1] + i * resultSteps[axis]);
    if (x.isFloat())
      sortRow(realKeys(x, row, descending), x, row, to, descending, values, indices);
    else
      sortRow(wholeKeys(x, row, descending), x, row, to, descending, values, indices);
  });
  std::vector<TensorData> results;
  results.push_back(values.take());
  results.push_back(indices.take());
  return results;
}

} // namespace halftone::dialect
