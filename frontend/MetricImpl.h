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
  /// One number per sample (any shape whose first axis is the batch), from targets and predictions as they came.
  using Formula = std::function<Value(const Value &yTrue, const Value &yPred)>;
  /// Picks a metric for the shapes of a model's target and output.
  using Choose = std::function<std::shared_ptr<MetricImpl>(const Shape &yTrue, const Shape &yPred)>;
  std::string name;
  DType dtype = DType::float32;
  Formula formula;          // null: a Mean of values
  Choose choose{};          // set where each output of a model gets a metric of its own: metrics by name, functions
  bool needsShapes = false; // no formula until `choose` was asked
  double (*finish)(double) = nullptr; // of the mean, for the result
  Variable total{}, count{};
  mutable std::mutex mutex{};
  mutable std::unique_ptr<CompiledFunction> onData{};
};

/// Recorded: adds a batch to the states. An undefined weight counts every sample once.
void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// total / count in the metric's dtype, 0 before any sample: as they stand, or as given.
double metricResult(const Metric &metric);
double metricResult(const Metric &metric, double total, double count);
void resetMetric(const Metric &metric);
/// The metric for one output: of fresh state when given by name or as a function, `metric` itself otherwise. Shapes
/// have the batch first.
Metric resolveMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred);
/// total, count
std::vector<Variable> metricVariables(const Metric &metric);

/// A metric with its state. `formula` may be null: a Mean.
std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, MetricImpl::Formula formula);
/// The metric of a Keras name. value_error listing the names known.
std::shared_ptr<MetricImpl> metricNamed(const std::string &name);

/// A running mean of numbers, such as the loss by batch size. Copies share the state.
class MeanTracker {
public:
  explicit MeanTracker(std::string name);
  std::string name() const;
  void update(const Value &value, double weight) const; // recorded
  double result() const;
  void reset() const;
  const Metric &metric() const { return mean_; }

private:
  Metric mean_;
};

// Formulas, one entry per sample: 1 where the prediction is right.
Value accuracyEntries(const Value &yTrue, const Value &yPred);
Value binaryAccuracyEntries(const Value &yTrue, const Value &yPred, double threshold);
Value categoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value sparseCategoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value topKEntries(const Value &yTrue, const Value &yPred, int64_t k);
Value sparseTopKEntries(const Value &yTrue, const Value &yPred, int64_t k);

} // namespace halftone::detail
