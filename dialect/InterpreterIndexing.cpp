// The interpreter's slices, concatenations, gathers and scatters.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include "dialect/InterpreterReductions.h"
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

/// The rows of a tensor along one axis, and the rows that the indices select at each position of the batch axes.
struct Lookup {
  template <class Op>
  Lookup(Op op, RankedTensorType whole, const TensorData &indices)
      : batches(extentOf(whole.getShape().take_front(op.getBatch()))),
        before(extentOf(whole.getShape().take_front(op.getAxis()).drop_front(op.getBatch()))),
        rows(whole.getDimSize(op.getAxis())), after(extentOf(whole.getShape().drop_front(op.getAxis() + 1))),
        parts(extentOf(indices.type.getShape().drop_front(op.getBatch()))) {
    IntFormat format(indices.type.getElementType());
    const auto clamp = [&](Int index) { return static_cast<int64_t>(std::clamp<Int>(index, 0, rows - 1)); };
    for (int64_t i = 0, e = rows ? indices.size() : 0; i < e; ++i) {
      const IntInterval index = wholeAt(indices, i, format);
      if (!std::is_same_v<Op, ScatterOp>) // clamps
        named.push_back({clamp(index.low), clamp(index.high), clamp(index.low) == clamp(index.high)});
      else if (index.high < 0 || index.low >= rows)
        named.push_back({0, -1, false});
      else
        named.push_back({clamp(index.low), clamp(index.high), index.isPoint()});
    }
  }
  /// The first and the last row that an index may select, none if last < first, and whether it certainly selects one.
  struct Rows {
    int64_t low, high;
    bool isCertain;
  };
  /// Returns the rows that the indices select at a position of the batch axes.
  ArrayRef<Rows> namedIn(int64_t position) const {
    return named.empty() ? ArrayRef<Rows>() : ArrayRef<Rows>(named).slice(position * parts, parts);
  }
  /// For each row at a position of the batch axes: the indices that may select it, and whether they certainly do, in
  /// order.
  using Parts = SmallVector<std::pair<int64_t, bool>, 4>;
  std::vector<Parts> partsOfRows(int64_t position) const {
    std::vector<Parts> found(static_cast<size_t>(rows));
    for (auto [part, named] : llvm::enumerate(namedIn(position)))
      for (int64_t row = named.low; row <= named.high; ++row)
        found[static_cast<size_t>(row)].push_back({static_cast<int64_t>(part), named.isCertain});
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
    for (auto [low, high, isCertain] : lookup.namedIn(outer / lookup.before))
      for (int64_t inner = 0; inner < lookup.after; ++inner, ++next) {
        writer.copy(next, x, lookup.wholeAtRow(outer, low, inner));
        for (int64_t row = low + 1; row <= high; ++row)
          writer.widen(next, x, lookup.wholeAtRow(outer, row, inner));
      }
  return writer.take();
}

/// The terms of a sum, in order: an element of the updates, and whether it is certainly a term.
using Terms = Lookup::Parts;

/// The sum of `first` and the terms, in order.
Interval realSum(Interval first, const TensorData &updates, const Terms &terms, DType dtype,
                 const InterpreterOptions &options) {
  Rounding accumulate(dtype == DType::float64 ? dtype : DType::float32), result(dtype, options.strict);
  SumBound bound;
  bound.add(first);
  double value = first.low;
  // In strict mode the kernel of this op adds in this order.
  bool exact = !options.intervals || (options.strict && first.isPoint());
  for (auto [at, isCertain] : terms) {
    Interval term = realAt(updates, at);
    if (!isCertain)
      term = Interval::hull(term, Interval::point(0));
    exact &= isCertain && term.isPoint();
    bound.add(term);
    value = accumulate.round(value + term.low);
  }
  if (!exact)
    return result.spread(bound.finish(accumulate, 0), 0, false);
  return Interval::point(dtype == DType::float64 || dtype == DType::float32 ? value : roundTo(dtype, value));
}

IntInterval wholeSum(const TensorData &updates, const Terms &terms, const IntFormat &format) {
  IntInterval sum{0, 0};
  for (auto [at, isCertain] : terms) {
    IntInterval term = wholeAt(updates, at, format);
    if (!isCertain)
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
        for (auto [part, isCertain] : parts)
          terms.push_back({(outer * lookup.parts + part) * lookup.after + inner, isCertain});
        if (updates.isFloat())
          writer.real(next, realSum(Interval::point(0), updates, terms, *dtypeOf(type.getElementType()), options));
        else
          writer.whole(next, wholeSum(updates, terms, format));
      }
  return writer.take();
}

/// One element of a scatter: x, then its updates in order.
class ScatteredElement {
public:
  ScatteredElement(ScatterOp op, const InterpreterOptions &options)
      : kind(op.getKind()), dtype(dtypeOf(tensorTypeOf(op.getY()).getElementType())), options(options) {}

  Interval real(Interval x, const TensorData &updates, const Terms &terms) const {
    if (kind == ScatterKind::sum)
      return realSum(x, updates, terms, *dtype, options);
    InterpreterOptions rules = options;
    rules.intervals = options.intervals && !(options.strict && x.isPoint() && llvm::all_of(terms, [&](auto term) {
                                               return term.second && realAt(updates, term.first).isPoint();
                                             })); // in strict mode the kernel combines in this order
    RealReduction reduction(reduceKind(), *dtype, rules);
    const Interval none = reduction.finish();
    reduction.add(x);
    for (auto [at, isCertain] : terms) {
      const Interval term = realAt(updates, at);
      if (kind == ScatterKind::set)
        x = isCertain ? term : Interval::hull(x, term);
      else
        reduction.add(isCertain ? term : Interval::hull(term, none));
    }
    return kind == ScatterKind::set ? x : reduction.finish();
  }
  IntInterval whole(IntInterval x, const TensorData &updates, const Terms &terms, const IntFormat &format) const {
    const auto hull = [](IntInterval a, IntInterval b) {
      return IntInterval{std::min(a.low, b.low), std::max(a.high, b.high)};
    };
    IntReduction reduction(reduceKind(), format);
    const IntInterval none = reduction.finish();
    reduction.add(x);
    for (auto [at, isCertain] : terms) {
      const IntInterval term = wholeAt(updates, at, format);
      if (kind == ScatterKind::set)
        x = isCertain ? term : hull(x, term);
      else
        reduction.add(isCertain ? term : hull(term, none));
    }
    return kind == ScatterKind::set ? x : reduction.finish();
  }

private:
  ReduceKind reduceKind() const {
    return *symbolizeReduceKind(kind == ScatterKind::set ? "sum" : stringifyScatterKind(kind));
  }

  ScatterKind kind;
  std::optional<DType> dtype;
  const InterpreterOptions &options;
};

TensorData evaluateScatter(ScatterOp op, const TensorData &x, const TensorData &indices, const TensorData &updates,
                           const InterpreterOptions &options) {
  Lookup lookup(op, x.type, indices);
  TensorWriter writer(x.type);
  IntFormat format(x.type.getElementType());
  const ScatteredElement element(op, options);
  int64_t next = 0;
  for (int64_t outer = 0; outer < lookup.batches * lookup.before; ++outer)
    for (const auto &parts : lookup.partsOfRows(outer / lookup.before))
      for (int64_t inner = 0; inner < lookup.after; ++inner, ++next) {
        Terms terms;
        for (auto [part, isCertain] : parts)
          terms.push_back({(outer * lookup.parts + part) * lookup.after + inner, isCertain});
        if (x.isFloat())
          writer.real(next, element.real(realAt(x, next), updates, terms));
        else
          writer.whole(next, element.whole(wholeAt(x, next, format), updates, terms, format));
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
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return evaluateScatter(scatter, *operands[0], *operands[1], *operands[2], options);
  return std::nullopt;
}

} // namespace halftone::dialect
