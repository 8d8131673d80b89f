// The interpreter's attention, one row of scores at a time, with each step rounded.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionParts.h"
#include "dialect/InterpreterProducts.h"
#include "dialect/Philox.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// Arithmetic on scores, each step rounded to their dtype or, with intervals, widened as compiled code may round.
class ScoreSteps {
public:
  ScoreSteps(DType dtype, const InterpreterOptions &options)
      : rounding(dtype, options.strict), intervals(options.intervals) {}

  /// Rounds a number to the dtype.
  Interval number(double value) const { return Interval::point(roundTo(rounding.dtype, value)); }
  Interval number(Interval value) const { return rounding.store(value); }

  Interval times(Interval a, Interval b) const { return step(a.low * b.low, multiply(a, b), 0, true); }
  Interval plus(Interval a, Interval b) const { return step(a.low + b.low, add(a, b), 0); }
  Interval minus(Interval a, Interval b) const { return step(a.low - b.low, subtract(a, b), 0); }
  Interval over(Interval a, Interval b) const {
    return step(a.low / b.low, divide(a, b), rounding.strict ? 0 : quotientUlps);
  }
  Interval exp(Interval x) const {
    const auto exact = [](double v) { return std::exp(v); };
    return step(exact(x.low), monotone(exact, x), libraryUlps);
  }
  Interval log(Interval x) const {
    const auto exact = [](double v) { return std::log(v); };
    return step(exact(x.low), monotone(exact, x), libraryUlps);
  }
  Interval sum(ArrayRef<Interval> terms) const {
    SumBound bound;
    double total = 0;
    for (Interval term : terms) {
      bound.add(term);
      total = rounding.round(total + term.low);
    }
    return intervals ? rounding.spread(bound.finish(rounding, 0), 0, false) : Interval::point(total);
  }

private:
  // As for the functions in InterpreterReals.cpp; in f64 the reference itself is inexact.
  static constexpr double libraryUlps = 4, quotientUlps = 1;
  Interval step(double value, Interval bound, double ulps, bool mayFuse = false) const {
    if (!intervals)
      return Interval::point(rounding.round(value));
    return rounding.spread(bound, ulps > 0 && rounding.wide ? ulps + 2 : ulps, mayFuse);
  }

  Rounding rounding;
  bool intervals;
};

/// The shared operands of an attention and its gradient, and the scores. A row of scores belongs to one query of one
/// head, (b, n, t), and has one score per key.
class ScoreRows {
public:
  ScoreRows(const AttentionInputs &inputs, Operands operands, const InterpreterOptions &options)
      : options(options), q(*operands[0]), k(*operands[1]), v(*operands[2]), scores(inputs.scoreShape()),
        causal(inputs.causal), rate(inputs.rate), groups(k.type.getDimSize(2)), depth(q.type.getDimSize(3)),
        width(v.type.getDimSize(3)), steps(*dtypeOf(inputs.scoreType()), options),
        sums(q.type.getElementType(), inputs.scoreType(), inputs.scoreType(), options),
        means(q.type.getElementType(), inputs.scoreType(), q.type.getElementType(), options),
        stored(*dtypeOf(q.type.getElementType()), options.strict), scale(steps.number(inputs.scale)),
        masked(steps.number(maskedScore)) {
    if (inputs.bias)
      bias = operands[shared++];
    if (inputs.mask)
      mask = operands[shared++];
    if (inputs.key)
      key = operands[shared++];
  }

protected:
  /// Calls `visit(b, n, t, row)` for each row.
  void forRows(llvm::function_ref<void(int64_t, int64_t, int64_t, int64_t)> visit) const {
    for (int64_t b = 0, row = 0; b < scores[0]; ++b)
      for (int64_t n = 0; n < scores[1]; ++n)
        for (int64_t t = 0; t < scores[2]; ++t, ++row)
          visit(b, n, t, row);
  }

  /// The index of the first element of head n's row of k or v, whose last axis has extent `extent`.
  int64_t keyRow(int64_t b, int64_t s, int64_t n, int64_t extent) const {
    return ((b * scores[3] + s) * groups + n / (scores[1] / groups)) * extent;
  }

  /// Like keyRow(), for q or out.
  int64_t queryRow(int64_t b, int64_t t, int64_t n, int64_t extent) const {
    return ((b * scores[2] + t) * scores[1] + n) * extent;
  }

  Interval product(const TensorData &x, int64_t xRow, const TensorData &y, int64_t yRow, int64_t extent) const {
    RealProducts product(sums);
    for (int64_t i = 0; i < extent; ++i)
      product.add(realAt(x, xRow + i), realAt(y, yRow + i));
    return product.finish();
  }

  std::vector<Interval> scoresOf(int64_t b, int64_t n, int64_t t) const {
    const int64_t query = queryRow(b, t, n, depth);
    std::vector<Interval> row;
    for (int64_t s = 0; s < scores[3]; ++s) {
      Interval score = steps.times(product(q, query, k, keyRow(b, s, n, depth), depth), scale);
      if (bias)
        score = steps.plus(score, steps.number(realAt(*bias, repeated(*bias, {b, n, t, s}))));
      const IntInterval seen = isSeen(b, n, t, s);
      row.push_back(!seen.high ? masked : seen.low ? score : Interval::hull(score, masked));
    }
    return row;
  }

  IntInterval isSeen(int64_t b, int64_t n, int64_t t, int64_t s) const {
    if (causal && s > t)
      return {0, 0};
    return mask ? wholeAt(*mask, repeated(*mask, {b, n, t, s}), IntFormat(mask->type.getElementType()))
                : IntInterval{1, 1};
  }

  /// The index of the element for a score in an operand that may have extent 1 along an axis.
  static int64_t repeated(const TensorData &operand, const std::array<int64_t, 4> &point) {
    int64_t at = 0;
    for (size_t axis = 0; axis < point.size(); ++axis) {
      const int64_t extent = operand.type.getDimSize(axis);
      at = at * extent + (extent == 1 ? 0 : point[axis]);
    }
    return at;
  }

  /// Applies dropout to weights or their cotangents: 0 where the weight is dropped, scaled up otherwise.
  void drop(int64_t row, std::vector<Interval> &weights) const {
    if (rate == 0)
      return;
    const Interval growth = steps.number(1 / (1 - rate));
    for (int64_t s = 0; s < scores[3]; ++s) {
      const bool isKept = (bitsAt(row * scores[3] + s) >> 8) >= roundTo(DType::float32, rate * 0x1p24);
      weights[s] = isKept ? steps.times(weights[s], growth) : Interval::point(0);
    }
  }

  uint32_t bitsAt(int64_t index) const {
    const uint64_t block = static_cast<uint64_t>(index) / 4;
    return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                      {static_cast<uint32_t>(key->integers[0]), static_cast<uint32_t>(key->integers[1])})[index % 4];
  }

  /// A weight or score gradient as a factor of a product.
  Interval factor(Interval weight) const {
    if (!options.intervals)
      return stored.store(weight);
    const Interval factor = stored.spread(weight, 0, true);
    const bool mayVanish = sums.flushed > 0 && absolute(weight).low < sums.flushed; // a bf16 dot product flushes it
    return mayVanish ? Interval::hull(factor, Interval::point(0)) : factor;
  }

  /// Adds a product whose first factor may be 0 because a key is masked; compiled code may omit it.
  void addProduct(RealProducts &sum, Interval weight, Interval element) const {
    constexpr double smallest = 0x1p-126;
    if (options.intervals && absolute(weight).high <= smallest && (!element.isBounded() || element.mayBeInfinite()))
      sum.addNothing(element);
    else
      sum.add(factor(weight), element);
  }

  const InterpreterOptions &options;
  const TensorData &q, &k, &v;
  const TensorData *bias = nullptr, *mask = nullptr, *key = nullptr;
  size_t shared = 3; // operands
  SmallVector<int64_t, 4> scores;
  bool causal;
  double rate;
  int64_t groups, depth, width;
  ScoreSteps steps;
  ProductRules sums, means;
  Rounding stored;
  Interval scale, masked;
};

class Attention : ScoreRows {
public:
  Attention(AttentionOp op, Operands operands, const InterpreterOptions &options)
      : ScoreRows(AttentionInputs(op), operands, options), op(op) {}

  std::vector<TensorData> evaluate() {
    TensorWriter out(op.getOut().getType()), lse(op.getLse().getType());
    forRows([&](int64_t b, int64_t n, int64_t t, int64_t row) {
      std::vector<Interval> weights;
      lse.real(row, softmax(scoresOf(b, n, t), weights));
      drop(row, weights);
      for (int64_t e = 0; e < width; ++e)
        out.real(queryRow(b, t, n, width) + e, mean(b, n, e, weights));
    });
    std::vector<TensorData> results;
    results.push_back(out.take());
    results.push_back(lse.take());
    return results;
  }

private:
  /// Computes the weights of one row, and the logarithm of the sum of its exponentials.
  Interval softmax(ArrayRef<Interval> row, std::vector<Interval> &weights) const {
    Interval largest = Interval::point(-std::numeric_limits<double>::infinity());
    for (Interval score : row)
      largest = maximum(largest, score);
    for (Interval score : row)
      weights.push_back(steps.exp(steps.minus(score, largest)));
    const Interval total = steps.sum(weights);
    for (Interval &weight : weights)
      weight = steps.over(weight, total);
    return steps.plus(largest, steps.log(total));
  }

  /// One element of `out`.
  Interval mean(int64_t b, int64_t n, int64_t e, ArrayRef<Interval> weights) const {
    RealProducts sum(means);
    for (int64_t s = 0; s < scores[3]; ++s)
      addProduct(sum, roundedBeforeDivision(weights[size_t(s)]), realAt(v, keyRow(b, s, n, width) + e));
    return sum.finish();
  }

  /// Compiled code may round a weight to bf16 before dividing it by the sum of its row.
  Interval roundedBeforeDivision(Interval weight) const {
    constexpr double maxError = 0x1p-8; // relative
    if (!options.intervals || sums.flushed == 0 || !weight.isBounded())
      return weight;
    return {weight.low * (1 - maxError), weight.high * (1 + maxError)};
  }

  AttentionOp op;
};

class AttentionGradient : ScoreRows {
public:
  AttentionGradient(AttentionGradOp op, Operands operands, const InterpreterOptions &options)
      : ScoreRows(AttentionInputs(op), operands, options), op(op), lse(*operands[shared]), byOut(*operands[shared + 1]),
        delta(*operands[shared + 2]) {}

  std::vector<TensorData> evaluate() {
    forRows([&](int64_t b, int64_t n, int64_t t, int64_t row) { addRow(b, n, t, row); });
    std::vector<TensorData> results;
    results.push_back(byQueries());
    results.push_back(overQueries(op.getByK().getType(), scoreGradients, q, depth, true));
    results.push_back(overQueries(op.getByV().getType(), weights, byOut, width, false));
    return results;
  }

private:
  /// Appends the weights after dropout, and the score gradients, of one row.
  void addRow(int64_t b, int64_t n, int64_t t, int64_t row) {
    std::vector<Interval> own, upstream;
    const Interval logarithm = realAt(lse, row);
    for (Interval score : scoresOf(b, n, t))
      own.push_back(steps.exp(steps.minus(score, logarithm)));
    const Interval size = absolute(logarithm);
    if ((bias || mask) && !(size.high < largeLse)) {
      const Interval total = steps.sum(own), one = Interval::point(1);
      for (Interval &weight : own)
        weight = steps.over(weight, size.low >= largeLse ? total : Interval::hull(total, one));
    }
    for (int64_t s = 0; s < scores[3]; ++s)
      upstream.push_back(product(byOut, queryRow(b, t, n, width), v, keyRow(b, s, n, width), width));
    drop(row, upstream);
    for (int64_t s = 0; s < scores[3]; ++s) {
      const Interval gradient = steps.times(own[size_t(s)], steps.minus(upstream[size_t(s)], realAt(delta, row)));
      const IntInterval seen = isSeen(b, n, t, s);
      const Interval none = Interval::point(0);
      scoreGradients.push_back(!seen.high ? none : seen.low ? gradient : Interval::hull(gradient, none));
    }
    drop(row, own);
    llvm::append_range(weights, own);
  }

  /// Multiplies a sum by `scale`, and rounds it to the dtype of q unless it is a partial result.
  Interval scaled(RealProducts &sum, bool isPartial = false) const {
    const Interval product = steps.times(sum.finish(), scale);
    if (isPartial)
      return product;
    return options.intervals ? stored.spread(product, 0, true) : stored.store(product);
  }

  TensorData byQueries() {
    TensorWriter result(op.getByQ().getType());
    const bool isScaled = scale.low != 1;
    forRows([&](int64_t b, int64_t n, int64_t t, int64_t row) {
      for (int64_t h = 0; h < depth; ++h) {
        RealProducts sum(isScaled ? sums : means);
        for (int64_t s = 0; s < scores[3]; ++s)
          addProduct(sum, scoreGradients[size_t(row * scores[3] + s)], realAt(k, keyRow(b, s, n, depth) + h));
        result.real(queryRow(b, t, n, depth) + h, isScaled ? scaled(sum) : sum.finish());
      }
    });
    return result.take();
  }

  /// Sums, over the queries that share a key, of `factors` (one per score) times rows of `x`.
  TensorData overQueries(Type type, const std::vector<Interval> &factors, const TensorData &x, int64_t extent,
                         bool mayScale) const {
    TensorWriter result(type);
    const int64_t partials = partsOfQueries(op), parts = std::max<int64_t>(partials, 1);
    const int64_t run = llvm::divideCeil(scores[2], parts);
    const bool isScaled = mayScale && scale.low != 1;
    int64_t at = 0;
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t b = 0; b < scores[0]; ++b)
        for (int64_t s = 0; s < scores[3]; ++s)
          for (int64_t m = 0; m < groups; ++m)
            for (int64_t c = 0; c < extent; ++c, ++at) {
              RealProducts sum(isScaled || partials ? sums : means);
              forRowsOfKey(b, m, part * run, run, [&](int64_t n, int64_t t, int64_t row) {
                addProduct(sum, factors[size_t(row * scores[3] + s)], realAt(x, queryRow(b, t, n, extent) + c));
              });
              result.real(at, isScaled ? scaled(sum, partials > 0) : sum.finish());
            }
    return result.take();
  }

  /// Calls `visit(n, t, row)` for the query heads that share key head m, and at most `count` queries from `begin` on.
  void forRowsOfKey(int64_t b, int64_t m, int64_t begin, int64_t count,
                    llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) const {
    const int64_t heads = scores[1] / groups;
    for (int64_t n = m * heads; n < (m + 1) * heads; ++n)
      for (int64_t t = begin; t < std::min(begin + count, scores[2]); ++t)
        visit(n, t, (b * scores[1] + n) * scores[2] + t);
  }

  AttentionGradOp op;
  const TensorData &lse, &byOut, &delta;
  std::vector<Interval> weights, scoreGradients; // one per score, for all rows
};

} // namespace

std::vector<TensorData> evaluateAttention(AttentionOp op, Operands operands, const InterpreterOptions &options) {
  return Attention(op, operands, options).evaluate();
}

std::vector<TensorData> evaluateAttentionGrad(AttentionGradOp op, Operands operands,
                                              const InterpreterOptions &options) {
  return AttentionGradient(op, operands, options).evaluate();
}

} // namespace halftone::dialect
