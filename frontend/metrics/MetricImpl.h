// The state behind a Metric: its variables, its update rule, and the resolution of "accuracy" to a kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Metrics.h"
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct MetricImpl;

/// Accumulates batches, and computes results from the sums.
class MetricRule : public std::enable_shared_from_this<MetricRule> {
public:
  virtual ~MetricRule() = default;
  /// The variables by name, for targets and predictions of these shapes. value_error for incompatible shapes.
  using State = std::vector<std::pair<const char *, Shape>>;
  virtual State state(const Shape &, const Shape &) const { return {}; }
  /// Adds the variables: by default those of state(), initialized with zeros.
  virtual void build(MetricContext &context, const Shape &yTrue, const Shape &yPred) const;
  virtual bool needsShapes() const { return false; } // false: build() is independent of shapes
  /// The rule for a metric with separate state.
  virtual std::shared_ptr<const MetricRule> another() const { return shared_from_this(); }
  virtual bool isUsers() const { return false; } // whether it calls a user struct
  /// Returns true if a batch has targets and predictions; otherwise it has only values, as `yPred`.
  virtual bool takesTargets() const { return true; }
  virtual bool takesWeight() const { return true; }
  /// Records the addition of a batch to the state. If the weight is undefined, every sample has weight 1.
  virtual void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
                      const Value &weight) const = 0;
  /// The results, from the elements of each variable.
  virtual std::vector<double> results(const std::vector<std::vector<double>> &) const { return {}; }
  /// The results, in the metric's dtype, from the values of the metric's variables; by default those of results().
  virtual std::vector<double> resultsOf(const MetricImpl &metric, const std::vector<Tensor> &state) const;
};

struct MetricImpl {
  /// Selects a metric for the shapes of a model's target and output.
  using Choose = std::function<std::shared_ptr<MetricImpl>(const Shape &yTrue, const Shape &yPred)>;
  std::string name;
  std::string identifier{};     // the string from which the metric was created, "mae"
  std::string className{};      // of an object: "MeanSquaredError"; "" for a name or function
  std::string registeredName{}; // if a registered user function created it from a config
  Config ownConfig{};           // the arguments of an object other than name and dtype
  DType dtype = DType::float32;
  std::shared_ptr<const MetricRule> rule; // null until `choose` selects the metric
  Choose choose{};                        // set for names and functions: each output of a model gets its own metric
  std::vector<Variable> state{};          // empty until the shapes that `rule` needs are known
  std::vector<Tensor> initial{};          // initial value of each state variable; undefined: zeros
  std::weak_ptr<const void> user{};       // see ownMetric(); guarded by the mutex
  mutable std::mutex mutex{};
  mutable std::unique_ptr<CompiledFunction> onData{};
};

/// One element per sample (any shape whose first axis is the batch), from targets and predictions in their own dtypes.
using MetricFormula = std::function<Value(const Value &yTrue, const Value &yPred)>;

} // namespace halftone::detail

/// The result of a metric's build().
struct halftone::MetricContext::Rep {
  const detail::MetricImpl &metric;
  std::vector<Variable> state{};
  std::vector<Tensor> initial{}; // as in MetricImpl
};

namespace halftone::detail {

/// Creates a metric, with its state if that needs no shapes.
std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, std::shared_ptr<const MetricRule> rule);
/// The mean of a formula's entries or, for a null formula, of values; `finish`, if given, maps the mean to the result.
std::shared_ptr<const MetricRule> meanOf(MetricFormula formula, double (*finish)(double) = nullptr);
/// Creates the metric of a config that names a user class; nullopt for a Keras class. value_error if the class is not
/// registered.
std::optional<Metric> registeredMetric(const Config &config);
/// A function that creates the metric registered under a name; empty if there is none.
std::function<std::shared_ptr<MetricImpl>()> registeredByName(const std::string &name);
/// The config of a user's metric. value_error if its class is not registered.
Config savedUsersMetric(const Metric &metric);
/// The metric with a Keras name or a registered name. value_error that lists the known names.
std::shared_ptr<MetricImpl> metricNamed(const std::string &name);
/// Returns true if the library has a metric of that name. Excludes class names, which files distinguish from user
/// classes.
bool isNameOfMetric(const std::string &name);
/// The classes that metrics::deserialize() supports, in alphabetical order.
std::vector<std::string> metricClasses();
/// Creates the state of a metric that needs shapes for it, unless it has one.
void buildMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred);

/// Records the addition of a batch to the state. If the weight is undefined, every sample has weight 1.
void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// The results from the metric's state, or from given values of each variable.
std::vector<double> metricResults(const Metric &metric);
std::vector<double> metricResults(const Metric &metric, const std::vector<Tensor> &state);
/// The initial value of variable `i` of the metric's state.
Tensor initialValue(const MetricImpl &metric, size_t i);
void resetMetric(const Metric &metric);
/// The metric for one output, with its state. This is `metric` itself if it is an object without a user; `use` then
/// owns it while it lives. Otherwise it has its own state, since an object may be given for several outputs, twice in
/// one compile(), or to several models. Shapes begin with the batch.
Metric ownMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred, const std::shared_ptr<const void> &use);

/// A running mean of scalars, such as the loss weighted by batch size. Copies share the state.
class MeanTracker {
public:
  explicit MeanTracker(std::string name);
  std::string name() const;
  /// Records an update. `value` is the part of this process, whose batch has `ownRows` rows.
  void update(const Value &value, int64_t ownRows) const;
  const Metric &metric() const { return mean_; }

private:
  Metric mean_;
};

// Formulas with one entry per sample: 1 if the prediction is correct, otherwise 0.
Value accuracyEntries(const Value &yTrue, const Value &yPred);
Value binaryAccuracyEntries(const Value &yTrue, const Value &yPred, double threshold);
Value categoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value sparseCategoricalAccuracyEntries(const Value &yTrue, const Value &yPred);
Value topKEntries(const Value &yTrue, const Value &yPred, int64_t k);
Value sparseTopKEntries(const Value &yTrue, const Value &yPred, int64_t k);

} // namespace halftone::detail
