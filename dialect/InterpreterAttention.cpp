// The interpreter's attention: a row of scores after another, each step rounded.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterProducts.h"
#include "dialect/Philox.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// Steps on scores, each rounded to their dtype or, with intervals, widened as compiled code may round.
class ScoreSteps {
public:
  ScoreSteps(DType dtype, const InterpreterOptions &options)
      : rounding(dtype, options.strict), intervals(options.intervals) {}

  /// A number of the dtype.
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
  // As of the functions in InterpreterReals.cpp; in f64 the reference itself is off.
  static constexpr double libraryUlps = 4, quotientUlps = 1;
  Interval step(double value, Interval bound, double ulps, bool mayFuse = false) const {
    if (!intervals)
      return Interval::point(rounding.round(value));
    return rounding.spread(bound, ulps > 0 && rounding.wide ? ulps + 2 : ulps, mayFuse);
  }

  Rounding rounding;
  bool intervals;
};

/// Evaluates one `attention`. A row of its scores belongs to one query of one head, (b, n, t), and has a score for each key.
class Attention {
public:
  Attention(AttentionOp op, Operands operands, const InterpreterOptions &options)
      : op(op), options(options), q(*operands[0]), k(*operands[1]), v(*operands[2]), scores(op.getScoreShape()),
        causal(op.getCausal()), rate(op.getRate().convertToDouble()), groups(k.type.getDimSize(2)),
        depth(q.type.getDimSize(3)), width(v.type.getDimSize(3)), steps(*dtypeOf(op.getScoreType()), options),
        sums(q.type.getElementType(), op.getScoreType(), op.getScoreType(), options),
        means(q.type.getElementType(), op.getScoreType(), q.type.getElementType(), options),
        stored(*dtypeOf(q.type.getElementType()), options.strict), scale(steps.number(op.getScale().convertToDouble())),
        masked(steps.number(AttentionOp::maskedScore)) {
    size_t next = 3;
    if (op.getBias())
      bias = operands[next++];
    if (op.getMask())
      mask = operands[next++];
    if (op.getKey())
      key = operands[next++];
  }

  std::vector<TensorData> evaluate() {
    TensorWriter out(op.getOut().getType()), lse(op.getLse().getType());
    for (int64_t b = 0, row = 0; b < scores[0]; ++b)
      for (int64_t n = 0; n < scores[1]; ++n)
        for (int64_t t = 0; t < scores[2]; ++t, ++row) {
          std::vector<Interval> weights;
          lse.real(row, softmax(scoresOf(b, n, t), weights));
          drop(row, weights);
          for (int64_t e = 0; e < width; ++e)
            out.real(((b * scores[2] + t) * scores[1] + n) * width + e, mean(b, n, e, weights));
        }
    std::vector<TensorData> results;
    results.push_back(out.take());
    results.push_back(lse.take());
    return results;
  }

private:
  /// The first element of head n's row of k or v, whose last axis has the extent `extent`.
  int64_t keyRow(int64_t b, int64_t s, int64_t n, int64_t extent) const {
    return ((b * scores[3] + s) * groups + n / (scores[1] / groups)) * extent;
  }

  std::vector<Interval> scoresOf(int64_t b, int64_t n, int64_t t) const {
    const int64_t query = ((b * scores[2] + t) * scores[1] + n) * depth;
    std::vector<Interval> row;
    for (int64_t s = 0; s < scores[3]; ++s) {
      RealProducts product(sums);
      for (int64_t h = 0; h < depth; ++h)
        product.add(realAt(q, query + h), realAt(k, keyRow(b, s, n, depth) + h));
      Interval score = steps.times(product.finish(), scale);
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

  /// Where an operand that may have the extent 1 along an axis has the element of a score.
  static int64_t repeated(const TensorData &operand, const std::array<int64_t, 4> &point) {
    int64_t at = 0;
    for (size_t axis = 0; axis < point.size(); ++axis) {
      const int64_t extent = operand.type.getDimSize(axis);
      at = at * extent + (extent == 1 ? 0 : point[axis]);
    }
    return at;
  }

  /// The weights of one row, and the logarithm of the sum of its exponentials.
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

  /// One element of `out`.
  Interval mean(int64_t b, int64_t n, int64_t e, ArrayRef<Interval> weights) const {
    RealProducts sum(means);
    for (int64_t s = 0; s < scores[3]; ++s)
      sum.add(options.intervals ? stored.spread(weights[s], 0, true) : stored.store(weights[s]),
              realAt(v, keyRow(b, s, n, width) + e));
    return sum.finish();
  }

  AttentionOp op;
  const InterpreterOptions &options;
  const TensorData &q, &k, &v;
  const TensorData *bias = nullptr, *mask = nullptr, *key = nullptr;
  SmallVector<int64_t, 4> scores;
  bool causal;
  double rate;
  int64_t groups, depth, width;
  ScoreSteps steps;
  ProductRules sums, means;
  Rounding stored;
  Interval scale, masked;
};

} // namespace

std::vector<TensorData> evaluateAttention(AttentionOp op, Operands operands, const InterpreterOptions &options) {
  return Attention(op, operands, options).evaluate();
}

} // namespace halftone::dialect
