// The interpreter's slices, concatenations, lookups and their sums.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include "runtime/base/Half.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

RankedTensorType resultType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

int64_t extentOf(ArrayRef<int64_t> shape) { return ShapedType::getNumElements(shape); }

TensorData evaluateSlice(SliceOp op, const TensorData &x) {
  SmallVector<int64_t> steps = stridesOf(x.type.getShape());
  int64_t begin = 0, next = 0;
  for (auto [step, start] : llvm::zip(steps, op.getStart()))
    begin += step * start;
  TensorWriter writer(resultType(op));
  forEachPoint(resultType(op).getShape(), steps, [&](ArrayRef<int64_t> at) { writer.copy(next++, x, begin + at[0]); });
  return writer.take();
}

TensorData evaluateConcat(ConcatOp op, Operands operands) {
  RankedTensorType type = resultType(op);
  int64_t axis = op.getAxis(), before = extentOf(type.getShape().take_front(axis)), next = 0;
  TensorWriter writer(type);
  for (int64_t row = 0; row < before; ++row)
    for (const TensorData *x : operands) {
      int64_t run = extentOf(x->type.getShape().drop_front(axis));
      for (int64_t i = 0; i < run; ++i)
        writer.copy(next++, *x, row * run + i);
    }
  return writer.take();
}

/// The rows of a tensor along one axis, and the rows that the indices at each place of the batch axes name.
struct Lookup {
  template <class Op>
  Lookup(Op op, RankedTensorType whole, const TensorData &indices)
      : batches(extentOf(whole.getShape().take_front(op.getBatch()))),
        before(extentOf(whole.getShape().take_front(op.getAxis()).drop_front(op.getBatch()))),
        rows(whole.getDimSize(op.getAxis())), after(extentOf(whole.getShape().drop_front(op.getAxis() + 1))),
        parts(extentOf(indices.type.getShape().drop_front(op.getBatch()))) {
    IntFormat format(indices.type.getElementType());
    auto clamp = [&](Int index) { return static_cast<int64_t>(std::clamp<Int>(index, 0, rows - 1)); };
    for (int64_t i = 0, e = rows ? indices.size() : 0; i < e; ++i) {
      IntInterval index = wholeAt(indices, i, format);
      named.push_back({clamp(index.low), clamp(index.high)});
    }
  }
  /// The first and the last row that each index of a place of the batch axes may mean.
  using Rows = std::pair<int64_t, int64_t>;
  ArrayRef<Rows> namedIn(int64_t place) const {
    return named.empty() ? ArrayRef<Rows>() : ArrayRef<Rows>(named).slice(place * parts, parts);
  }
  /// Of each row at a place of the batch axes: the indices that name it, and whether they are sure to, in order.
  using Parts = SmallVector<std::pair<int64_t, bool>, 4>;
  std::vector<Parts> partsOfRows(int64_t place) const {
    std::vector<Parts> found(static_cast<size_t>(rows));
    for (auto [part, named] : llvm::enumerate(namedIn(place)))
      for (int64_t row = named.first; row <= named.second; ++row)
        found[static_cast<size_t>(row)].push_back({static_cast<int64_t>(part), named.first == named.second});
    return found;
  }
  int64_t wholeAtRow(int64_t outer, int64_t row, int64_t inner) const { return (outer * rows + row) * after + inner; }

  int64_t batches, before, rows, after, parts;
  SmallVector<Rows> named;
};

TensorData evaluateGather(GatherOp op, const TensorData &x, const TensorData &indices) {
  Lookup lookup(op, x.type, indices);
  TensorWriter writer(resultType(op));
  IntFormat format(x.type.getElementType());
  int64_t next = 0;
  for (int64_t outer = 0; outer < lookup.batches * lookup.before; ++outer)
    for (auto [low, high] : lookup.namedIn(outer / lookup.before))
      for (int64_t inner = 0; inner < lookup.after; ++inner, ++next) {
        writer.copy(next, x, lookup.wholeAtRow(outer, low, inner));
        for (int64_t row = low + 1; row <= high; ++row)
          writer.widen(next, x, lookup.wholeAtRow(outer, row, inner));
      }
  return writer.take();
}

/// The sum of `terms` in order: (element of the updates, whether it is sure to be one of them).
using Terms = Lookup::Parts;

Interval realSum(const TensorData &updates, const Terms &terms, DType dtype, const InterpreterOptions &options) {
  Rounding accumulate(dtype == DType::float64 ? dtype : DType::float32), result(dtype, options.strict);
  SumBound bound;
  double value = 0;
  bool exact = !options.intervals || options.strict; // then the kernel of this op adds in this order
  for (auto [at, sure] : terms) {
    Interval term = realAt(updates, at);
    if (!sure)
      term = Interval::hull(term, Interval::point(0));
    exact &= sure && term.isPoint();
    bound.add(term);
    value = accumulate.round(value + term.low);
  }
  if (!exact)
    return result.spread(bound.finish(accumulate, 0), 0, false);
  return Interval::point(dtype == DType::float64 || dtype == DType::float32 ? value : roundTo(dtype, value));
}

IntInterval wholeSum(const TensorData &updates, const Terms &terms, const IntFormat &format) {
  IntInterval sum{0, 0};
  for (auto [at, sure] : terms) {
    IntInterval term = wholeAt(updates, at, format);
    if (!sure)
      term = {std::min<Int>(term.low, 0), std::max<Int>(term.high, 0)};
    sum = {sum.low + term.low, sum.high + term.high};
    if (sum.isPoint())
      sum.low = sum.high = format.wrap(sum.low);
    else if (!format.holds(sum.low) || !format.holds(sum.high))
      sum = {format.low, format.high};
  }
  return sum;
}

TensorData evaluateScatterAdd(ScatterAddOp op, const TensorData &indices, const TensorData &updates,
                              const InterpreterOptions &options) {
  RankedTensorType type = resultType(op);
  Lookup lookup(op, type, indices);
  TensorWriter writer(type);
  IntFormat format(type.getElementType());
  int64_t next = 0;
  for (int64_t outer = 0; outer < lookup.batches * lookup.before; ++outer)
    for (const auto &parts : lookup.partsOfRows(outer / lookup.before))
      for (int64_t inner = 0; inner < lookup.after; ++inner, ++next) {
        Terms terms;
        for (auto [part, sure] : parts)
          terms.push_back({(outer * lookup.parts + part) * lookup.after + inner, sure});
        if (updates.isFloat())
          writer.real(next, realSum(updates, terms, *dtypeOf(type.getElementType()), options));
        else
          writer.whole(next, wholeSum(updates, terms, format));
      }
  return writer.take();
}

} // namespace

std::optional<TensorData> evaluateIndexing(Operation *op, Operands operands, const InterpreterOptions &options) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return evaluateSlice(slice, *operands[0]);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return evaluateConcat(concat, operands);
  if (auto gather = dyn_cast<GatherOp>(op))
    return evaluateGather(gather, *operands[0], *operands[1]);
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return evaluateScatterAdd(scatter, *operands[0], *operands[1], options);
  return std::nullopt;
}

} // namespace halftone::dialect
