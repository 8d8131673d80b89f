// The area under a curve whose points are thresholds.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/Fields.h"
#include "frontend/metrics/Thresholds.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::metrics {
using namespace detail;

namespace {

/// The counts of one label, or of all, at each threshold.
struct Counts {
  std::vector<double> tp, tn, fp, fn;
};
struct Point {
  double x, y;
};

Point pointOf(const Counts &c, size_t i, AUCCurve curve) {
  const double recall = divideNoNan(c.tp[i], c.tp[i] + c.fn[i]);
  if (curve == AUCCurve::ROC)
    return {divideNoNan(c.fp[i], c.fp[i] + c.tn[i]), recall};
  if (curve == AUCCurve::PR)
    return {recall, divideNoNan(c.tp[i], c.tp[i] + c.fp[i])};
  if (c.tp[i] == 0.0)
    return {0.0, 1.0};
  const double scale = divideNoNan(c.tp[i] + c.fn[i], c.tn[i] + c.fp[i]);
  return {std::max(1.0 - scale * c.fn[i] / c.tp[i], 0.0), 1.0 - scale * c.fp[i] / c.tp[i]};
}

double areaOf(const Counts &c, const AUCArgs &args) {
  double area = 0.0;
  for (size_t i = 0; i + 1 < c.tp.size(); ++i) {
    const Point a = pointOf(c, i, args.curve), b = pointOf(c, i + 1, args.curve);
    const double height = args.summation_method == AUCSummationMethod::interpolation ? (a.y + b.y) / 2.0
                          : args.summation_method == AUCSummationMethod::minoring    ? std::min(a.y, b.y)
                                                                                     : std::max(a.y, b.y);
    area += (a.x - b.x) * height;
  }
  return area;
}

/// The area under the PR curve, with linear interpolation between true and between false positives (Davis and Goadrich,
/// 2006).
double interpolatedPrecisionArea(const Counts &c) {
  double area = 0.0;
  for (size_t i = 0; i + 1 < c.tp.size(); ++i) {
    const double p = c.tp[i] + c.fp[i], next = c.tp[i + 1] + c.fp[i + 1], truePart = c.tp[i] - c.tp[i + 1];
    const double slope = divideNoNan(truePart, std::max(p - next, 0.0)), intercept = c.tp[i + 1] - slope * next;
    const double ratio = p > 0.0 && next > 0.0 ? p / next : 1.0;
    area += divideNoNan(slope * (truePart + intercept * std::log(ratio)), std::max(c.tp[i + 1] + c.fn[i + 1], 0.0));
  }
  return area;
}

class AreaRule final : public CountsRule {
public:
  AreaRule(const AUCArgs &args, Thresholds thresholds)
      : CountsRule(std::move(thresholds), {.byLabel = args.multi_label, .labelWeights = args.label_weights}),
        args_(args) {}
  bool needsShapes() const override { return args_.multi_label && !args_.num_labels; }
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override {
    if (args_.multi_label && (yPred.rank() != 2 || yPred.shape()[1] != state[0].impl()->shape[1]))
      throw Error(ErrorKind::value_error,
                  fmt::format("With `multi_label` the predictions of an AUC of {} labels must have the shape "
                              "(batch, {}). Received: y_pred.shape={}",
                              state[0].impl()->shape[1], state[0].impl()->shape[1], yPred.shape().str()));
    CountsRule::update(state, yTrue, args_.from_logits ? ops::sigmoid(yPred) : yPred, weight);
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    const size_t thresholds = static_cast<size_t>(thresholds_.count), labels = state[0].size() / thresholds;
    const std::vector<double> ones(labels, 1.0);
    const std::vector<double> &weights = args_.multi_label && !args_.label_weights.empty() ? args_.label_weights : ones;
    double sum = 0.0, total = 0.0;
    for (size_t label = 0; label < labels; ++label) {
      Counts counts;
      std::vector<double> *const all[] = {&counts.tp, &counts.tn, &counts.fp, &counts.fn};
      for (size_t count = 0; count < 4; ++count)
        for (size_t i = 0; i < thresholds; ++i)
          all[count]->push_back(state[count][i * labels + label]);
      const bool interpolated =
          args_.curve == AUCCurve::PR && args_.summation_method == AUCSummationMethod::interpolation;
      sum += weights.at(label) * (interpolated ? interpolatedPrecisionArea(counts) : areaOf(counts, args_));
      total += weights.at(label);
    }
    return {divideNoNan(sum, total)};
  }

protected:
  Shape shape(const Shape &yPred) const override {
    if (!args_.multi_label)
      return {thresholds_.count};
    if (!args_.num_labels && yPred.rank() != 2)
      throw Error(ErrorKind::value_error,
                  fmt::format("`y_pred` must have rank 2 when `multi_label=True`. Found rank {}. Full shape received "
                              "for `y_pred`: {}",
                              yPred.rank(), yPred.str()));
    const int64_t labels = args_.num_labels ? *args_.num_labels : yPred[1];
    if (!args_.label_weights.empty() && std::ssize(args_.label_weights) != labels)
      throw Error(ErrorKind::value_error,
                  fmt::format("`label_weights` has {} numbers for {} labels", args_.label_weights.size(), labels));
    return {thresholds_.count, labels};
  }

private:
  AUCArgs args_;
};

/// The arguments in the form of their config: `num_thresholds` counts the given ones, which are sorted, and the two
/// ends.
AUCArgs resolved(AUCArgs args) {
  if (!args.thresholds.empty()) {
    std::ranges::sort(args.thresholds);
    args.num_thresholds = std::ssize(args.thresholds) + 2;
  }
  if (args.num_thresholds <= 1)
    throw Error(ErrorKind::value_error, fmt::format("Argument `num_thresholds` must be an integer > 1. Received: "
                                                    "num_thresholds={}",
                                                    args.num_thresholds));
  if (args.num_labels && !args.multi_label)
    throw Error(ErrorKind::value_error, "`num_labels` is needed only when `multi_label` is True.");
  return args;
}
/// The ends lie slightly outside of [0, 1], so that each prediction is above the first and none above the last.
Thresholds thresholdsOf(const AUCArgs &args) {
  if (args.thresholds.empty())
    return evenThresholds(args.num_thresholds, true);
  std::vector<double> all{0.0};
  all.insert(all.end(), args.thresholds.begin(), args.thresholds.end());
  all.push_back(1.0);
  const bool even = areEven(all);
  all.front() -= config::epsilon();
  all.back() += config::epsilon();
  return {.count = std::ssize(all), .even = even, .beyond = true, .values = all};
}

} // namespace

AUC::AUC(const AUCArgs &args)
    : Metric([&] {
        const AUCArgs chosen = resolved(args);
        return metricOfClass("AUC", AUCOptions{chosen}, std::make_shared<AreaRule>(chosen, thresholdsOf(chosen)));
      }()) {}

} // namespace halftone::metrics
