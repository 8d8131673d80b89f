// The state behind a Metric: its variables, how a batch updates it, and how "accuracy" finds its kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/CompiledFunction.h"
#include "halftone/Metrics.h"
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace halftone::detail {

/// A weighted mean: total and count, in the metric's dtype.
struct MetricImpl {
  /// One element per sample (any shape whose first axis is the batch), from targets and predictions in their own
  /// dtypes.
  using Formula = std::function<Value(const Value &yTrue, const Value &yPred)>;
  /// Picks a metric for the shapes of a model's target and output.
  using Choose = std::function<std::shared_ptr<MetricImpl>(const Shape &yTrue, const Shape &yPred)>;
  std::string name;
  std::string identifier{}; // the string that a metric was made of, "mae"
  std::string kind{};       // of an object: the name that its class gives, "mean_squared_error"
  Config ownConfig{};       // the arguments of an object beyond name and dtype
  DType dtype = DType::float32;
  Formula formula;                    // null: a Mean of values
  Choose choose{};                    // set for names and functions: each output of a model gets a metric of its own
  bool needsShapes = false;           // `choose` has yet to give the formula
  double (*finish)(double) = nullptr; // turns the mean into the result; null: the mean itself
  Variable total{}, count{};
  mutable std::mutex mutex{};
  mutable std::unique_ptr<CompiledFunction> onData{};
};

/// Records the addition of a batch to the state. With an undefined weight every sample counts once.
void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// total / count in the metric's dtype, 0 before any sample; of the metric's state, or of the given total and count.
double metricResult(const Metric &metric);
double metricResult(const Metric &metric, double total, double count);
void resetMetric(const Metric &metric);
/// The metric for one output: `metric` itself if it is an object, else one with fresh state. Shapes begin with the
/// batch.
Metric resolveMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred);
/// The variables total and count.
std::vector<Variable> metricVariables(const Metric &metric);

/// A metric with its state. A null `formula` makes it a Mean.
std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, MetricImpl::Formula formula);
/// The metric of a Keras name. value_error that lists the known names.
std::shared_ptr<MetricImpl> metricNamed(const std::string &name);

/// A running mean of scalars, such as the loss weighted by batch size. Copies share the state.
class MeanTracker {
public:
  explicit MeanTracker(std::string name);
  std::string name() const;
  /// Recorded. `value` is the part of this process, whose batch has `ownRows`.
  void update(const Value &value, int64_t ownRows) const;
  double result() const;
  void reset() const;
  const Metric &metric() const { return mean_; }

private:
  Metric mean_;
};

// Formulas with one entry per sample: 1 where the prediction is right, else 0.
Value accuracyEntries(const Value &yTrue, const Value &yPred);
Value binaryAccuracyEntries(const Value &yTrue, const Value &yPred, double threshold);
Value categoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value sparseCategoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value topKEntries(const Value &yTrue, const Value &yPred, int64_t k);
Value sparseTopKEntries(const Value &yTrue, const Value &yPred, int64_t k);

} // namespace halftone::detail
