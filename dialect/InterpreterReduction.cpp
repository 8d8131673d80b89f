// The interpreter's reductions and contractions: in index order, each step rounded.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterProducts.h"
#include "dialect/InterpreterReductions.h"
#include "dialect/ops/Expression.h"
#include <optional>

using namespace mlir;

namespace halftone::dialect {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Reduces the points of `inner`, visited in row-major order from `begin` with `steps`, into element `to`.
struct Reducer {
  ReduceKind kind;
  const TensorData &x;
  TensorWriter &writer;
  DType result;
  const InterpreterOptions &options;

  void operator()(int64_t to, int64_t begin, ArrayRef<int64_t> inner, const SmallVector<int64_t> &steps) const {
    if (x.isFloat()) {
      RealReduction reduction(kind, result, options);
      forEachPoint(inner, steps, [&](ArrayRef<int64_t> at) { reduction.add(realAt(x, begin + at[0])); });
      writer.real(to, reduction.finish());
      return;
    }
    IntFormat format(x.type.getElementType());
    IntReduction reduction(kind, format);
    forEachPoint(inner, steps, [&](ArrayRef<int64_t> at) { reduction.add(wholeAt(x, begin + at[0], format)); });
    writer.whole(to, reduction.finish());
  }
};

SmallVector<int64_t> pick(ArrayRef<int64_t> from, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> picked;
  for (int64_t axis : axes)
    picked.push_back(from[axis]);
  return picked;
}

TensorData reduce(ReduceOp op, const TensorData &x, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  Reducer reducer{op.getKind(), x, writer, *dtypeOf(type.getElementType()), options};
  ArrayRef<int64_t> shape = x.type.getShape(), axes = op.getAxes();
  SmallVector<int64_t> strides = stridesOf(shape), kept = otherAxes(x.type.getRank(), axes);
  SmallVector<int64_t> inner = pick(shape, axes), innerSteps = pick(strides, axes);
  int64_t next = 0;
  forEachPoint(pick(shape, kept), pick(strides, kept),
               [&](ArrayRef<int64_t> at) { reducer(next++, at[0], inner, innerSteps); });
  return writer.take();
}

TensorData partialReduce(PartialReduceOp op, const TensorData &x, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  Reducer reducer{op.getKind(), x, writer, *dtypeOf(type.getElementType()), options};
  ArrayRef<int64_t> shape = x.type.getShape(), axes = op.getAxes();
  SmallVector<int64_t> strides = stridesOf(shape), innerSteps = pick(strides, axes), tiles;
  // Along a tiled axis the result advances by whole tiles; its index is visited too, to detect the end of a tile.
  SmallVector<SmallVector<int64_t>> steps{strides};
  for (auto [position, axis] : llvm::enumerate(axes)) {
    tiles.push_back(std::min(op.getTile()[position], shape[axis]));
    steps[0][axis] *= tiles.back();
    steps.emplace_back(x.type.getRank(), 0)[axis] = tiles.back();
  }
  int64_t next = 0;
  forEachPoint(type.getShape(), steps, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> inner;
    for (auto [position, axis] : llvm::enumerate(axes))
      inner.push_back(std::min(tiles[position], shape[axis] - at[position + 1]));
    reducer(next++, at[0], inner, innerSteps);
  });
  return writer.take();
}

// The first and the last index that may be the result.
IntInterval argReduceReals(ArrayRef<Interval> xs, bool isMax) {
  // The larger value wins; NaN wins over all.
  auto low = [&](Interval x) { return x.isNan() ? infinity : x.isAny() ? -infinity : isMax ? x.low : -x.high; };
  auto high = [&](Interval x) { return !x.isBounded() ? infinity : isMax ? x.high : -x.low; };
  auto mayBeNan = [](Interval x) { return !x.isBounded(); };
  int64_t end = xs.size();
  for (int64_t i = 0; i < static_cast<int64_t>(xs.size()); ++i)
    if (xs[i].isNan()) { // the first NaN: no later element is the result
      end = i;
      break;
    }
  bool endsInNan = end < static_cast<int64_t>(xs.size());
  double threshold = -infinity;
  for (int64_t i = 0; i < end; ++i)
    threshold = std::max(threshold, low(xs[i]));
  int64_t first = -1, last = -1;
  for (int64_t i = 0; i < end; ++i) {
    bool possible = endsInNan ? mayBeNan(xs[i]) : high(xs[i]) >= threshold;
    // An exact tie goes to the first.
    if (possible && first >= 0 && !endsInNan && xs[i].isPoint() && xs[first].isPoint() && last == first &&
        low(xs[i]) == low(xs[first]))
      continue;
    if (possible) {
      first = first < 0 ? i : first;
      last = i;
    }
  }
  if (endsInNan)
    return {first < 0 ? end : first, end};
  return {first, last};
}

TensorData argReduce(ArgReduceOp op, const TensorData &x) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  int64_t axis = op.getAxis(), extent = x.type.getDimSize(axis);
  SmallVector<int64_t> strides = stridesOf(x.type.getShape()), kept = otherAxes(x.type.getRank(), axis);
  bool isMax = op.getKind() == ReduceKind::max;
  IntFormat format(x.type.getElementType());
  int64_t next = 0;
  forEachPoint(pick(x.type.getShape(), kept), pick(strides, kept), [&](ArrayRef<int64_t> at) {
    auto index = [&](int64_t i) { return at[0] + i * strides[axis]; };
    if (x.isFloat()) {
      SmallVector<Interval> row;
      for (int64_t i = 0; i < extent; ++i)
        row.push_back(realAt(x, index(i)));
      writer.whole(next++, argReduceReals(row, isMax));
      return;
    }
    auto low = [&](IntInterval v) { return isMax ? v.low : -v.high; };
    auto high = [&](IntInterval v) { return isMax ? v.high : -v.low; };
    IntInterval best = wholeAt(x, index(0), format);
    Int threshold = low(best);
    for (int64_t i = 1; i < extent; ++i)
      threshold = std::max(threshold, low(wholeAt(x, index(i), format)));
    int64_t first = -1, last = -1;
    for (int64_t i = 0; i < extent; ++i) {
      IntInterval value = wholeAt(x, index(i), format);
      if (high(value) < threshold)
        continue;
      first = first < 0 ? i : first;
      last = i;
      if (low(value) == high(value) && low(value) == threshold && x.upper.empty())
        break;
    }
    writer.whole(next++, IntInterval{first, last});
  });
  return writer.take();
}

TensorData cumsum(CumsumOp op, const TensorData &x, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  const int64_t axis = op.getAxis(), extent = x.type.getDimSize(axis);
  SmallVector<int64_t> strides = stridesOf(x.type.getShape()), kept = otherAxes(x.type.getRank(), axis);
  IntFormat format(x.type.getElementType());
  forEachPoint(pick(x.type.getShape(), kept), pick(strides, kept), [&](ArrayRef<int64_t> at) {
    RealReduction real(op.getKind(), *dtypeOf(type.getElementType()), options);
    IntReduction whole(op.getKind(), format);
    for (int64_t step = 0; step < extent; ++step) {
      const int64_t index = at[0] + (op.getReverse() ? extent - 1 - step : step) * strides[axis];
      if (x.isFloat()) {
        real.add(realAt(x, index));
        writer.real(index, real.finish());
      } else {
        whole.add(wholeAt(x, index, format));
        writer.whole(index, whole.finish());
      }
    }
  });
  return writer.take();
}

TensorData reduceAll(ReduceAllOp op, Operands xs, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  auto forEach = [&](llvm::function_ref<void(Interval)> visit) {
    for (const TensorData *x : xs)
      for (int64_t i = 0, e = x->size(); i < e; ++i)
        visit(realAt(*x, i));
  };
  if (op.getKind() == ReduceAllKind::all_finite) {
    bool always = true, possible = true;
    forEach([&](Interval x) {
      always &= std::isfinite(x.low) && std::isfinite(x.high);
      possible &= x.isAny() || std::isfinite(x.low) || std::isfinite(x.high) || (x.isBounded() && x.low != x.high);
    });
    writer.whole(0, IntInterval{always, possible});
    return writer.take();
  }
  Rounding rounding(*dtypeOf(type.getElementType()), options.strict);
  if (op.getKind() == ReduceAllKind::max_abs) {
    Interval largest = Interval::point(0);
    forEach([&](Interval x) { largest = maximum(largest, absolute(x)); });
    writer.real(0,
                options.intervals ? rounding.spread(largest, 0, false) : Interval::point(rounding.round(largest.low)));
    return writer.take();
  }
  SumBound bound;
  double sum = 0;
  forEach([&](Interval x) {
    if (!options.intervals) {
      sum = rounding.wide ? std::fma(x.low, x.low, sum)
                          : std::fma(static_cast<float>(x.low), static_cast<float>(x.low), static_cast<float>(sum));
      return;
    }
    Interval magnitude = absolute(x);
    bound.add(multiply(magnitude, magnitude));
  });
  if (!options.intervals) {
    writer.real(0, sum);
    return writer.take();
  }
  Interval total = rounding.spread(bound.finish(rounding, 1), 0, false);
  if (total.isBounded())
    total.low = std::max(total.low, 0.0);
  writer.real(0, total);
  return writer.take();
}

TensorData contract(ContractOp op, const TensorData &lhs, const TensorData &rhs, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  ArrayRef<int64_t> lhsShape = lhs.type.getShape(), rhsShape = rhs.type.getShape();
  SmallVector<int64_t> lhsStrides = stridesOf(lhsShape), rhsStrides = stridesOf(rhsShape);
  SmallVector<SmallVector<int64_t>> outer(2);
  outer[0] = pick(lhsStrides, op.getLhsBatch());
  outer[1] = pick(rhsStrides, op.getRhsBatch());
  outer[0].append(pick(lhsStrides, op.getLhsFree()));
  outer[1].append(op.getLhsFree().size(), 0);
  outer[0].append(op.getRhsFree().size(), 0);
  outer[1].append(pick(rhsStrides, op.getRhsFree()));
  SmallVector<int64_t> depth = pick(lhsShape, op.getLhsContract());
  SmallVector<SmallVector<int64_t>> inner{pick(lhsStrides, op.getLhsContract()), pick(rhsStrides, op.getRhsContract())};

  const ProductRules rules(lhs.type.getElementType(), op.getAccumulatorType(), type.getElementType(), options);
  IntFormat format(lhs.type.getElementType()), sumFormat(type.getElementType());
  int64_t next = 0;
  forEachPoint(type.getShape(), outer, [&](ArrayRef<int64_t> at) {
    const int64_t a = at[0], b = at[1], to = next++;
    if (lhs.isFloat()) {
      RealProducts sum(rules);
      forEachPoint(depth, inner, [&](ArrayRef<int64_t> k) { sum.add(realAt(lhs, a + k[0]), realAt(rhs, b + k[1])); });
      writer.real(to, sum.finish());
    } else {
      IntProducts sum(sumFormat);
      forEachPoint(depth, inner, [&](ArrayRef<int64_t> k) {
        sum.add(wholeAt(lhs, a + k[0], format), wholeAt(rhs, b + k[1], format));
      });
      writer.whole(to, sum.finish());
    }
  });
  return writer.take();
}

} // namespace

std::optional<TensorData> evaluateReduction(Operation *op, Operands operands, const InterpreterOptions &options) {
  if (auto product = dyn_cast<ContractOp>(op))
    return contract(product, *operands[0], *operands[1], options);
  if (auto whole = dyn_cast<ReduceOp>(op))
    return reduce(whole, *operands[0], options);
  if (auto partial = dyn_cast<PartialReduceOp>(op))
    return partialReduce(partial, *operands[0], options);
  if (auto index = dyn_cast<ArgReduceOp>(op))
    return argReduce(index, *operands[0]);
  if (auto sums = dyn_cast<CumsumOp>(op))
    return cumsum(sums, *operands[0], options);
  if (auto all = dyn_cast<ReduceAllOp>(op))
    return reduceAll(all, operands, options);
  return std::nullopt;
}

} // namespace halftone::dialect
