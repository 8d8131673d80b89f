// Counts at thresholds, precision, recall, and the maximum of one ratio subject to a minimum of another.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/Fields.h"
#include "frontend/metrics/Thresholds.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::metrics {
using namespace detail;

namespace {

class OneCountRule final : public CountsRule {
public:
  OneCountRule(Count count, const ThresholdsArgs &args)
      : CountsRule(givenThresholds(args.thresholds), {}), count_(count) {}
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override { return state[0]; }

protected:
  std::vector<Count> counts() const override { return {count_}; }
  State state(const Shape &, const Shape &) const override { return {{"accumulator", {thresholds_.count}}}; }

private:
  Count count_;
};

/// True positives / (true positives + another count).
class ShareRule final : public CountsRule {
public:
  ShareRule(Count other, const PrecisionArgs &args)
      : CountsRule(givenThresholds(args.thresholds, args.top_k.has_value()),
                   {.topK = args.top_k, .classId = args.class_id}),
        other_(other) {}
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    std::vector<double> shares;
    for (size_t i = 0; i < state[0].size(); ++i)
      shares.push_back(divideNoNan(state[0][i], state[0][i] + state[1][i]));
    return shares;
  }

protected:
  std::vector<Count> counts() const override { return {tp, other_}; }

private:
  Count other_;
};

/// A ratio of counts at a threshold: `part` / (`part` + `rest`).
struct Ratio {
  CountsRule::Count part, rest;
};
constexpr Ratio sensitivity{CountsRule::tp, CountsRule::fn}, specificity{CountsRule::tn, CountsRule::fp},
    precision{CountsRule::tp, CountsRule::fp};

class BestRule final : public CountsRule {
public:
  BestRule(Ratio constrained, double least, Ratio best, const AtThresholdArgs &args)
      : CountsRule(evenThresholds(args.num_thresholds), {.classId = args.class_id}), constrained_(constrained),
        best_(best), least_(least) {}
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    const std::vector<Count> order = counts();
    const auto of = [&](const Ratio &ratio, size_t i) {
      const auto at = [&](Count count) {
        return state[static_cast<size_t>(std::ranges::find(order, count) - order.begin())][i];
      };
      return static_cast<float>(divideNoNan(at(ratio.part), at(ratio.part) + at(ratio.rest)));
    };
    double best = 0.0;
    for (size_t i = 0; i < state[0].size(); ++i)
      if (of(constrained_, i) >= static_cast<float>(least_)) // compares as Keras does
        best = std::max(best, static_cast<double>(of(best_, i)));
    return {best};
  }

private:
  Ratio constrained_, best_;
  double least_;
};

template <class MetricClass>
Metric countOf(const char *className, CountsRule::Count count, const ThresholdsArgs &args) {
  return metricOfClass(className, MetricOptions<MetricClass, ThresholdsArgs>{args},
                       std::make_shared<OneCountRule>(count, args));
}
template <class MetricClass> Metric shareOf(const char *className, CountsRule::Count other, const PrecisionArgs &args) {
  return metricOfClass(className, MetricOptions<MetricClass, PrecisionArgs>{args},
                       std::make_shared<ShareRule>(other, args));
}
template <class MetricClass>
Metric bestOf(const char *className, Ratio constrained, double least, Ratio best, const AtThresholdArgs &args) {
  if (!(least >= 0.0 && least <= 1.0))
    throw Error(ErrorKind::value_error, fmt::format("Argument `{0}` must be in the range [0, 1]. Received: {0}={1}",
                                                    minKey<MetricClass>, least));
  if (args.num_thresholds <= 0)
    throw Error(ErrorKind::value_error, fmt::format("Argument `num_thresholds` must be an integer > 0. Received: "
                                                    "num_thresholds={}",
                                                    args.num_thresholds));
  return metricOfClass(className, AtThresholdOptions<MetricClass>{args, least},
                       std::make_shared<BestRule>(constrained, least, best, args));
}

} // namespace

TruePositives::TruePositives(const ThresholdsArgs &args)
    : Metric(countOf<TruePositives>("TruePositives", CountsRule::tp, args)) {}
FalsePositives::FalsePositives(const ThresholdsArgs &args)
    : Metric(countOf<FalsePositives>("FalsePositives", CountsRule::fp, args)) {}
TrueNegatives::TrueNegatives(const ThresholdsArgs &args)
    : Metric(countOf<TrueNegatives>("TrueNegatives", CountsRule::tn, args)) {}
FalseNegatives::FalseNegatives(const ThresholdsArgs &args)
    : Metric(countOf<FalseNegatives>("FalseNegatives", CountsRule::fn, args)) {}
Precision::Precision(const PrecisionArgs &args) : Metric(shareOf<Precision>("Precision", CountsRule::fp, args)) {}
Recall::Recall(const PrecisionArgs &args) : Metric(shareOf<Recall>("Recall", CountsRule::fn, args)) {}

SensitivityAtSpecificity::SensitivityAtSpecificity(double least, const AtThresholdArgs &args)
    : Metric(bestOf<SensitivityAtSpecificity>("SensitivityAtSpecificity", specificity, least, sensitivity, args)) {}
SpecificityAtSensitivity::SpecificityAtSensitivity(double least, const AtThresholdArgs &args)
    : Metric(bestOf<SpecificityAtSensitivity>("SpecificityAtSensitivity", sensitivity, least, specificity, args)) {}
PrecisionAtRecall::PrecisionAtRecall(double recall, const AtThresholdArgs &args)
    : Metric(bestOf<PrecisionAtRecall>("PrecisionAtRecall", sensitivity, recall, precision, args)) {}
RecallAtPrecision::RecallAtPrecision(double least, const AtThresholdArgs &args)
    : Metric(bestOf<RecallAtPrecision>("RecallAtPrecision", precision, least, sensitivity, args)) {}

} // namespace halftone::metrics
