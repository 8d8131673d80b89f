// Scores with state per class or column: F-scores and the coefficient of determination.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/metrics/Fields.h"
#include "frontend/metrics/Thresholds.h"
#include "halftone/Ops.h"
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone::metrics {
using namespace detail;

namespace {

void requireColumns(const char *what, const Shape &yTrue, const Shape &yPred) {
  if (yTrue.rank() != 2 || yPred.rank() != 2)
    throw Error(ErrorKind::value_error,
                fmt::format("{} expects 2D inputs with shape (batch_size, output_dim). Received "
                            "input shapes: y_pred.shape={} and y_true.shape={}.",
                            what, yPred.str(), yTrue.str()));
}
/// value_error unless the columns of targets and predictions match the state.
void requireState(const char *what, const Value &t, const Value &p, int64_t columns) {
  requireColumns(what, t.shape(), p.shape());
  requireSameShape(what, t, p);
  if (t.shape()[1] != columns)
    throw Error(ErrorKind::value_error, fmt::format("{} has accumulated {} columns. Received: y_pred.shape={}", what,
                                                    columns, p.shape().str()));
}
/// Sample weights as a column; ones if there are none.
Value columnOf(const char *what, const Value &weight, const Value &like) {
  const Shape column{like.shape()[0], 1};
  if (!weight.defined())
    return tracing().splat(1.0, column, like.dtype());
  const Value w = asDtype(weight, like.dtype(), "metric");
  if (w.shape() != Shape{column[0]} && w.shape() != column)
    throw Error(ErrorKind::value_error, fmt::format("{} takes one weight for each of {} samples. Received: "
                                                    "sample_weight.shape={}",
                                                    what, column[0], w.shape().str()));
  return ops::reshape(w, column);
}

class FScoreRule final : public MetricRule {
public:
  explicit FScoreRule(const FBetaScoreArgs &args) : args_(args) {}
  bool needsShapes() const override { return true; }
  State state(const Shape &yTrue, const Shape &yPred) const override {
    requireColumns("FBetaScore", yTrue, yPred);
    const Shape shape = isMicro() ? Shape{} : Shape{yPred[1]};
    return {{"true_positives", shape},
            {"false_positives", shape},
            {"false_negatives", shape},
            {"intermediate_weights", shape}};
  }
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override {
    const DType dtype = state[0].impl()->dtype;
    const Value t = asDtype(yTrue, dtype, "metric"), p = asDtype(yPred, dtype, "metric");
    requireState("FBetaScore", t, p, isMicro() ? t.shape()[-1] : state[0].impl()->shape[0]);
    Value positive;
    if (args_.threshold)
      positive = ops::greater(p, ops::full_like(p, *args_.threshold));
    else
      positive = ops::logical_and(ops::greater_equal(p, ops::max(p, -1, true)),
                                  ops::greater(ops::abs(p), ops::full_like(p, 1e-9)));
    const Value predicted = asDtype(positive, dtype, "metric"), column = columnOf("FBetaScore", weight, p);
    const auto sum = [&](const Value &x) { return ops::sum(x * column, isMicro() ? Axes{} : Axes{0}); };
    addTo(state[0], sum(predicted * t));
    addTo(state[1], sum(predicted * (1.0 - t)));
    addTo(state[2], sum((1.0 - predicted) * t));
    addTo(state[3], sum(t));
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    const double epsilon = config::epsilon(), square = args_.beta * args_.beta;
    std::vector<double> scores;
    for (size_t i = 0; i < state[0].size(); ++i) {
      const double tp = state[0][i], precision = tp / (tp + state[1][i] + epsilon),
                   recall = tp / (tp + state[2][i] + epsilon);
      scores.push_back((1.0 + square) * (precision * recall / (square * precision + recall + epsilon)));
    }
    if (!args_.average)
      return scores;
    if (args_.average != FScoreAverage::weighted)
      return {std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size())};
    const double all = std::accumulate(state[3].begin(), state[3].end(), 0.0) + epsilon;
    return {std::inner_product(scores.begin(), scores.end(), state[3].begin(), 0.0) / all};
  }

private:
  bool isMicro() const { return args_.average == FScoreAverage::micro; }
  FBetaScoreArgs args_;
};

std::shared_ptr<const MetricRule> fScore(const FBetaScoreArgs &args) {
  if (!(args.beta > 0.0))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid `beta` argument value. It should be > 0. Received: beta={}", args.beta));
  if (args.threshold && !(*args.threshold > 0.0 && *args.threshold <= 1.0))
    throw Error(ErrorKind::value_error, fmt::format("Invalid `threshold` argument value. It should verify 0 < "
                                                    "threshold <= 1. Received: threshold={}",
                                                    *args.threshold));
  return std::make_shared<FScoreRule>(args);
}

class R2Rule final : public MetricRule {
public:
  explicit R2Rule(const R2ScoreArgs &args)
      : args_(args), isWide_(dtypeOfArgument(args.dtype, "R2Score") == DType::float64) {}
  bool needsShapes() const override { return true; }
  State state(const Shape &yTrue, const Shape &yPred) const override {
    Shape columns = yPred;
    if (yTrue.rank() == 1 && yPred.rank() == 1) // unchanged by rank matching
      requireColumns("R2Score", yTrue, yPred);
    if (yPred.rank() == 1)
      columns = yTrue;
    if (columns.rank() != 2)
      requireColumns("R2Score", yTrue, yPred);
    const Shape each{columns[1]};
    return {{"num_samples", {}}, {"squared_sum", each}, {"sum", each}, {"residual", each}, {"count", each}};
  }
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override {
    const DType dtype = state[0].impl()->dtype;
    Value t = asDtype(yTrue, dtype, "metric"), p = asDtype(yPred, dtype, "metric");
    matchRanks(t, p);
    requireState("R2Score", t, p, state[1].impl()->shape[0]);
    const Value w = broadcastTo(columnOf("R2Score", weight, t), t.shape()), weighted = t * w;
    addTo(state[0], tracing().splat(t.shape().elements(), {}, dtype));
    addTo(state[1], ops::sum(t * weighted, 0));
    addTo(state[2], ops::sum(weighted, 0));
    addTo(state[3], ops::sum(ops::square(t - p) * w, 0));
    addTo(state[4], ops::sum(w, 0));
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    // Rounds as Keras does, so the variance of one sample is 0.
    const auto rounded = [this](double x) { return isWide_ ? x : static_cast<double>(static_cast<float>(x)); };
    std::vector<double> scores, totals;
    for (size_t i = 0; i < state[1].size(); ++i) {
      const double mean = rounded(state[2][i] / state[4][i]);
      totals.push_back(rounded(state[1][i] - rounded(state[2][i] * mean)));
      const double score = 1.0 - rounded(state[3][i] / totals.back());
      scores.push_back(std::isinf(score) ? 0.0 : score);
    }
    if (args_.class_aggregation == ClassAggregation::uniform_average)
      scores = {std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size())};
    else if (args_.class_aggregation)
      scores = {std::inner_product(scores.begin(), scores.end(), totals.begin(), 0.0) /
                std::accumulate(totals.begin(), totals.end(), 0.0)};
    const double samples = state[0][0], regressors = static_cast<double>(args_.num_regressors);
    if (regressors != 0.0 && regressors < samples - 1.0) // otherwise the plain score, as in Keras
      for (double &score : scores)
        score = 1.0 - (1.0 - score) * (samples - 1.0) / (samples - regressors - 1.0);
    return scores;
  }

private:
  R2ScoreArgs args_;
  bool isWide_; // whether the state is float64
};

} // namespace

FBetaScore::FBetaScore(const FBetaScoreArgs &args)
    : Metric(
          metricOfClass("FBetaScore", "fbeta_score", MetricOptions<FBetaScore, FBetaScoreArgs>{args}, fScore(args))) {}
F1Score::F1Score(const F1ScoreArgs &args)
    : Metric(metricOfClass("F1Score", "f1_score", MetricOptions<F1Score, F1ScoreArgs>{args},
                           fScore({.average = args.average, .threshold = args.threshold}))) {}
R2Score::R2Score(const R2ScoreArgs &args)
    : Metric(metricOfClass("R2Score", "r2_score", MetricOptions<R2Score, R2ScoreArgs>{args},
                           std::make_shared<R2Rule>(args))) {
  if (args.num_regressors < 0)
    throw Error(ErrorKind::value_error, fmt::format("Invalid value for argument `num_regressors`. Expected a value >= "
                                                    "0. Received: num_regressors={}",
                                                    args.num_regressors));
}

} // namespace halftone::metrics
