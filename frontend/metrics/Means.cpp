// Metrics that are means over samples of losses and other formulas, and the sum of values.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/metrics/Fields.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <cmath>
#include <numeric>

namespace halftone {
using namespace detail;

namespace {

Value readState(const Variable &state) { return tracing().read(state.impl(), state.impl()->dtype); }

/// The mean over the axes from `first` on.
Value meanFrom(const Value &x, int64_t first) {
  if (x.rank() <= first)
    return x;
  int64_t count = 1;
  std::vector<int64_t> axes(static_cast<size_t>(x.rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  for (int64_t axis : axes)
    count = extentProduct(count, x.shape()[axis]);
  const Value wide = atLeastFloat32(x), total = tracing().reduce(ReduceKind::sum, wide, axes, wide.dtype());
  return asDtype(total / static_cast<double>(count), x.dtype(), "metric");
}
Value sumOf(const Value &x) { return x.rank() > 0 ? ops::sum(x) : x; }

class MeanRule final : public MetricRule {
public:
  MeanRule(MetricFormula formula, double (*finish)(double)) : formula_(std::move(formula)), finish_(finish) {}
  State state(const Shape &, const Shape &) const override { return {{"total", {}}, {"count", {}}}; }
  bool takesTargets() const override { return formula_ != nullptr; }
  /// keras.metrics.Mean.update_state.
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &givenWeight) const override {
    const DType dtype = state[0].impl()->dtype;
    const bool joins =
        formula_ && joinsRows({yTrue, yPred}, [this](const std::vector<Value> &v) { return formula_(v[0], v[1]); });
    const auto sumOfAll = [joins](const Value &own) { return joins ? own : sumOfRows(own); };
    Value values = !formula_ ? yPred : joins ? formula_(joinedRows(yTrue), joinedRows(yPred)) : formula_(yTrue, yPred);
    values = asDtype(values, dtype, "metric");
    Value weight;
    if (givenWeight.defined()) {
      weight = asDtype(joins ? joinedRows(givenWeight) : givenWeight, dtype, "metric");
      matchRanks(values, weight);
      values = meanFrom(values, weight.rank());
      broadcastShape("sample_weight", values.shape(), weight.shape());
      weight = broadcastTo(weight, values.shape());
      values = values * weight;
    }
    values = meanFrom(values, 1);
    const Value old = readState(state[1]);
    Value count;
    if (weight.defined())
      count = sumOf(meanFrom(weight, 1));
    else
      count = scalarLike(values.rank() > 0 ? static_cast<double>(values.shape()[0]) : 1.0, old);
    state[0].assign(readState(state[0]) + sumOfAll(sumOf(values)));
    state[1].assign(old + sumOfAll(count));
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    const double total = state[0][0], count = state[1][0];
    if (count == 0.0)
      return {0.0};
    return {finish_ ? finish_(total / count) : total / count};
  }

private:
  MetricFormula formula_;
  double (*finish_)(double);
};

class SumRule final : public MetricRule {
public:
  State state(const Shape &, const Shape &) const override { return {{"total", {}}}; }
  bool takesTargets() const override { return false; }
  void update(const std::vector<Variable> &state, const Value &, const Value &values,
              const Value &weight) const override {
    const DType dtype = state[0].impl()->dtype;
    Value added = asDtype(values, dtype, "metric");
    if (weight.defined()) {
      Value factor = asDtype(weight, dtype, "metric");
      matchWeight(added, factor);
      added = added * factor;
    }
    state[0].assign(readState(state[0]) + sumOfRows(sumOf(added)));
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override { return state[0]; }
};

MetricFormula formulaOf(const Loss &loss) {
  return [loss](const Value &yTrue, const Value &yPred) {
    DType floatx = floatxDtype(), given = yPred.dtype();
    DType dtype = is_float(given) ? result_type(given, floatx) : floatx;
    return lossEntries(*loss.impl(), yTrue, yPred, dtype).values;
  };
}
template <class MetricClass, class Args>
Metric meanOfLoss(const char *className, const std::string &name, const Args &args, const Loss &loss) {
  return metricOfClass(className, name, MetricOptions<MetricClass, Args>{args}, meanOf(formulaOf(loss)));
}

/// The cosine: Keras's metric is the cosine, its loss the negative cosine.
MetricFormula cosineOf(int64_t axis) {
  return [loss = formulaOf(losses::CosineSimilarity(axis))](const Value &t, const Value &p) { return -loss(t, p); };
}
Value squaredErrors(const Value &yTrue, const Value &yPred) {
  Value t = asFloat(yTrue), p = asFloat(yPred);
  matchRanks(t, p);
  requireSameShape("root_mean_squared_error", t, p);
  return ops::square(p - t);
}

/// Converts targets and predictions to the same float dtype and shape.
std::pair<Value, Value> matched(const char *what, const Value &yTrue, const Value &yPred) {
  Value p = asFloat(yPred), t = asDtype(yTrue, p.dtype(), "metric");
  matchRanks(t, p);
  requireSameShape(what, t, p);
  return {t, p};
}
MetricFormula pearsonOf(int64_t axis) {
  return [axis](const Value &yTrue, const Value &yPred) {
    const auto [t, p] = matched("pearson_correlation", yTrue, yPred);
    const auto standard = [axis](const Value &x) {
      const Value centered = x - ops::mean(x, axis, true);
      return centered / ops::std(centered, axis, true);
    };
    return ops::mean(standard(t) * standard(p), axis);
  };
}
MetricFormula concordanceOf(int64_t axis) {
  return [axis](const Value &yTrue, const Value &yPred) {
    const auto [t, p] = matched("concordance_correlation", yTrue, yPred);
    const Value meanT = ops::mean(t, axis, true), meanP = ops::mean(p, axis, true);
    const Value norm = ops::var(t, axis, true) + ops::var(p, axis, true) + ops::square(meanT - meanP);
    return ops::mean(2.0 * ((t - meanP) * (p - meanP)) / (norm + config::epsilon()), axis);
  };
}

} // namespace

std::shared_ptr<const MetricRule> detail::meanOf(MetricFormula formula, double (*finish)(double)) {
  return std::make_shared<MeanRule>(std::move(formula), finish);
}

namespace metrics {

Mean::Mean(const MetricArgs &args)
    : Metric(metricOfClass("Mean", "mean", MetricOptions<Mean, MetricArgs>{args}, meanOf({}))) {}
Sum::Sum(const MetricArgs &args)
    : Metric(metricOfClass("Sum", "sum", MetricOptions<Sum, MetricArgs>{args}, std::make_shared<SumRule>())) {}

MeanSquaredError::MeanSquaredError(const MetricArgs &args)
    : Metric(meanOfLoss<MeanSquaredError>("MeanSquaredError", "mean_squared_error", args, "mse")) {}
MeanAbsoluteError::MeanAbsoluteError(const MetricArgs &args)
    : Metric(meanOfLoss<MeanAbsoluteError>("MeanAbsoluteError", "mean_absolute_error", args, "mae")) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(const MetricArgs &args)
    : Metric(meanOfLoss<MeanAbsolutePercentageError>("MeanAbsolutePercentageError", "mean_absolute_percentage_error",
                                                     args, "mape")) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(const MetricArgs &args)
    : Metric(meanOfLoss<MeanSquaredLogarithmicError>("MeanSquaredLogarithmicError", "mean_squared_logarithmic_error",
                                                     args, "msle")) {}
Poisson::Poisson(const MetricArgs &args) : Metric(meanOfLoss<Poisson>("Poisson", "poisson", args, "poisson")) {}
Hinge::Hinge(const MetricArgs &args) : Metric(meanOfLoss<Hinge>("Hinge", "hinge", args, "hinge")) {}
SquaredHinge::SquaredHinge(const MetricArgs &args)
    : Metric(meanOfLoss<SquaredHinge>("SquaredHinge", "squared_hinge", args, "squared_hinge")) {}
CategoricalHinge::CategoricalHinge(const MetricArgs &args)
    : Metric(meanOfLoss<CategoricalHinge>("CategoricalHinge", "categorical_hinge", args, "categorical_hinge")) {}
KLDivergence::KLDivergence(const MetricArgs &args)
    : Metric(meanOfLoss<KLDivergence>("KLDivergence", "kl_divergence", args, "kld")) {}
LogCoshError::LogCoshError(const MetricArgs &args)
    : Metric(meanOfLoss<LogCoshError>("LogCoshError", "logcosh", args, "log_cosh")) {}
BinaryCrossentropy::BinaryCrossentropy(const BinaryCrossentropyArgs &args)
    : Metric(meanOfLoss<BinaryCrossentropy>(
          "BinaryCrossentropy", "binary_crossentropy", args,
          losses::BinaryCrossentropy({.from_logits = args.from_logits, .label_smoothing = args.label_smoothing}))) {}
CategoricalCrossentropy::CategoricalCrossentropy(const CategoricalCrossentropyArgs &args)
    : Metric(meanOfLoss<CategoricalCrossentropy>(
          "CategoricalCrossentropy", "categorical_crossentropy", args,
          losses::CategoricalCrossentropy(
              {.from_logits = args.from_logits, .label_smoothing = args.label_smoothing, .axis = args.axis}))) {}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyArgs &args)
    : Metric(meanOfLoss<SparseCategoricalCrossentropy>(
          "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", args,
          losses::SparseCategoricalCrossentropy({.from_logits = args.from_logits, .axis = args.axis}))) {}

CosineSimilarity::CosineSimilarity(const CosineSimilarityArgs &args)
    : Metric(metricOfClass("CosineSimilarity", "cosine_similarity",
                           MetricOptions<CosineSimilarity, CosineSimilarityArgs>{args}, meanOf(cosineOf(args.axis)))) {}
RootMeanSquaredError::RootMeanSquaredError(const MetricArgs &args)
    : Metric(metricOfClass("RootMeanSquaredError", "root_mean_squared_error",
                           MetricOptions<RootMeanSquaredError, MetricArgs>{args}, meanOf(squaredErrors, std::sqrt))) {}
PearsonCorrelation::PearsonCorrelation(const CorrelationArgs &args)
    : Metric(metricOfClass("PearsonCorrelation", "pearson_correlation",
                           MetricOptions<PearsonCorrelation, CorrelationArgs>{args}, meanOf(pearsonOf(args.axis)))) {}
ConcordanceCorrelation::ConcordanceCorrelation(const CorrelationArgs &args)
    : Metric(metricOfClass("ConcordanceCorrelation", "concordance_correlation",
                           MetricOptions<ConcordanceCorrelation, CorrelationArgs>{args},
                           meanOf(concordanceOf(args.axis)))) {}

} // namespace metrics
} // namespace halftone

namespace halftone {

using Plain = Value (*)(const Value &, const Value &);

/// The metric of the losses:: function `f`; null for a user function.
static std::shared_ptr<detail::MetricImpl> metricOfFunction(Plain f, const MetricArgs &args) {
  struct Named {
    Plain function;
    Metric (*make)(const MetricArgs &);
  };
  static constexpr Named all[] = {
      {losses::mean_squared_error, [](const MetricArgs &args) -> Metric { return metrics::MeanSquaredError(args); }},
      {losses::mean_absolute_error, [](const MetricArgs &args) -> Metric { return metrics::MeanAbsoluteError(args); }},
      {losses::mean_absolute_percentage_error,
       [](const MetricArgs &args) -> Metric { return metrics::MeanAbsolutePercentageError(args); }},
      {losses::mean_squared_logarithmic_error,
       [](const MetricArgs &args) -> Metric { return metrics::MeanSquaredLogarithmicError(args); }},
      {losses::log_cosh, [](const MetricArgs &args) -> Metric { return metrics::LogCoshError(args); }},
      {losses::poisson, [](const MetricArgs &args) -> Metric { return metrics::Poisson(args); }},
      {losses::hinge, [](const MetricArgs &args) -> Metric { return metrics::Hinge(args); }},
      {losses::squared_hinge, [](const MetricArgs &args) -> Metric { return metrics::SquaredHinge(args); }},
      {losses::categorical_hinge, [](const MetricArgs &args) -> Metric { return metrics::CategoricalHinge(args); }},
      {losses::kl_divergence, [](const MetricArgs &args) -> Metric { return metrics::KLDivergence(args); }},
  };
  const auto found = std::ranges::find(all, f, &Named::function);
  return found == std::end(all) ? nullptr : found->make(args).impl();
}

Metric::Metric(Plain f, const MetricArgs &args) : Metric(metricOfFunction(f, args)) {
  if (!impl_)
    *this = Metric(std::function<Value(const Value &, const Value &)>(f), args);
}

} // namespace halftone
