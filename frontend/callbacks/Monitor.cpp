// Reads and compares the value that a callback watches.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/Monitor.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/training/Trainer.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace halftone::detail {

namespace {

/// Returns true if larger results of the metric are better; nullopt if Keras does not say.
std::optional<bool> isLargerBetter(const MetricImpl &metric) {
  constexpr std::string_view rising[] = {"AUC",
                                         "Accuracy",
                                         "BinaryAccuracy",
                                         "BinaryIoU",
                                         "CategoricalAccuracy",
                                         "ConcordanceCorrelation",
                                         "CosineSimilarity",
                                         "F1Score",
                                         "FBetaScore",
                                         "IoU",
                                         "MeanIoU",
                                         "OneHotIoU",
                                         "OneHotMeanIoU",
                                         "PearsonCorrelation",
                                         "Precision",
                                         "PrecisionAtRecall",
                                         "R2Score",
                                         "Recall",
                                         "RecallAtPrecision",
                                         "SensitivityAtSpecificity",
                                         "SparseCategoricalAccuracy",
                                         "SparseTopKCategoricalAccuracy",
                                         "SpecificityAtSensitivity",
                                         "TopKCategoricalAccuracy"};
  constexpr std::string_view silent[] = {"FalseNegatives", "FalsePositives", "Mean", "Sum",
                                         "TrueNegatives",  "TruePositives"};
  if (metric.rule && metric.rule->isUsers())
    return std::nullopt;
  if (metric.className.empty()) { // created from a name or from a user's function
    std::string word = metric.identifier;
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (word.empty())
      return std::nullopt;
    return word.find("acc") != word.npos || word.starts_with("cosine");
  }
  if (std::ranges::find(silent, metric.className) != std::end(silent))
    return std::nullopt;
  return std::ranges::find(rising, metric.className) != std::end(rising);
}

/// The metric as given to compile(), where a metric given by name still has that name.
const MetricImpl &givenMetric(const CompiledModel &compiled, const Metric &made) {
  for (const MetricSpec *spec : {&compiled.args.metrics, &compiled.args.weighted_metrics})
    for (const Metric &given : spec->metrics())
      if (given.name() == made.name())
        return *given.impl();
  return *made.impl();
}

} // namespace

Monitor::Monitor(std::string name, MonitorMode mode, double minDelta) : name_(std::move(name)), minDelta_(minDelta) {
  if (mode != MonitorMode::automatic)
    maximize_ = mode == MonitorMode::max;
}

void Monitor::choose(const Model &model) {
  const std::string metric = name_.starts_with("val_") ? name_.substr(4) : name_;
  if (metric == "loss" || metric.ends_with("_loss"))
    maximize_ = false;
  if (const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model))
    for (const OutputMetric &each : compiled->metrics)
      if (each.name == metric || each.metric.name() == metric)
        maximize_ = isLargerBetter(givenMetric(*compiled, each.metric));
  if (!maximize_)
    throw Error(ErrorKind::value_error,
                fmt::format("The callback received monitor={}, but isn't able to automatically determine whether that "
                            "metric should be maximized or minimized. Pass `mode='max'` in order to monitor based on "
                            "the highest metric value, or pass `mode='min'` in order to use the lowest value.",
                            name_));
}

std::optional<double> Monitor::valueIn(const Logs &logs, const Model &model, const char *what) {
  if (logs.contains(name_)) {
    if (!maximize_)
      choose(model);
    return logs[name_];
  }
  std::string names;
  for (const auto &[name, value] : logs)
    names += (names.empty() ? "" : ",") + name;
  if (!std::exchange(warned_, true))
    writeOutput(
        fmt::format("\nwarning: {} conditioned on metric `{}` which is not available. Available metrics are: {}\n",
                    what, name_, names));
  return std::nullopt;
}
bool Monitor::isBetter(double value, std::optional<double> than) const {
  return !than || (*maximize_ ? value - minDelta_ > *than : value + minDelta_ < *than);
}

void refuseMoved() {
  throw Error(ErrorKind::value_error, "a callback in use was moved from: pass the callback that holds its state");
}

} // namespace halftone::detail
