// The state behind a Metric: its variables, how a batch updates it, and how "accuracy" finds its kind.
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

/// How a metric adds batches up, and the results of its sums.
class MetricRule : public std::enable_shared_from_this<MetricRule> {
public:
  virtual ~MetricRule() = default;
  /// The variables by name, for targets and predictions of these shapes. value_error for shapes that do not fit.
  using State = std::vector<std::pair<const char *, Shape>>;
  virtual State state(const Shape &, const Shape &) const { return {}; }
  /// Adds the variables: those of state(), which begin with zeros.
  virtual void build(MetricContext &context, const Shape &yTrue, const Shape &yPred) const;
  virtual bool needsShapes() const { return false; } // false: build() does the same for all shapes
  /// The rule of a metric with another state.
  virtual std::shared_ptr<const MetricRule> another() const { return shared_from_this(); }
  virtual bool isUsers() const { return false; } // whether it calls a struct of the user's
  /// Whether a batch has targets and predictions; else it has values alone, as `yPred`.
  virtual bool takesTargets() const { return true; }
  virtual bool takesWeight() const { return true; }
  /// Records the addition of a batch to the state. With an undefined weight every sample counts once.
  virtual void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
                      const Value &weight) const = 0;
  /// From the elements of each variable.
  virtual std::vector<double> results(const std::vector<std::vector<double>> &) const { return {}; }
  /// The results from the values of the metric's variables: those of results(), in the metric's dtype.
  virtual std::vector<double> resultsOf(const MetricImpl &metric, const std::vector<Tensor> &state) const;
};

struct MetricImpl {
  /// Picks a metric for the shapes of a model's target and output.
  using Choose = std::function<std::shared_ptr<MetricImpl>(const Shape &yTrue, const Shape &yPred)>;
  std::string name;
  std::string identifier{};     // the string that a metric was made of, "mae"
  std::string className{};      // of an object: "MeanSquaredError"; "" for a name or a function
  std::string registeredName{}; // of one that a registered function of the user's has made from a config
  Config ownConfig{};           // the arguments of an object beyond name and dtype
  DType dtype = DType::float32;
  std::shared_ptr<const MetricRule> rule; // null if `choose` has yet to give the metric
  Choose choose{};                  // set for names and functions: each output of a model gets a metric of its own
  std::vector<Variable> state{};    // empty until the shapes are known that `rule` needs
  std::vector<Tensor> initial{};    // what each variable of the state begins with; undefined: zeros
  std::weak_ptr<const void> user{}; // see ownMetric(); guarded by the mutex
  mutable std::mutex mutex{};
  mutable std::unique_ptr<CompiledFunction> onData{};
};

/// One element per sample (any shape whose first axis is the batch), from targets and predictions in their own dtypes.
using MetricFormula = std::function<Value(const Value &yTrue, const Value &yPred)>;

} // namespace halftone::detail

/// What build() of a metric has made.
struct halftone::MetricContext::Rep {
  const detail::MetricImpl &metric;
  std::vector<Variable> state{};
  std::vector<Tensor> initial{}; // as of MetricImpl
};

namespace halftone::detail {

/// A metric with its state, if that needs no shapes.
std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, std::shared_ptr<const MetricRule> rule);
/// The mean of a formula's entries, or for a null formula of values; `finish`, if it is given, makes the result of the
/// mean.
std::shared_ptr<const MetricRule> meanOf(MetricFormula formula, double (*finish)(double) = nullptr);
/// The metric of a config that names a class of the user's; nullopt for one of Keras's. value_error if nobody has registered
/// the class.
std::optional<Metric> registeredMetric(const Config &config);
/// A function that makes the metric of a name that the user registered; empty if there is none.
std::function<std::shared_ptr<MetricImpl>()> registeredByName(const std::string &name);
/// The config of a metric of the user's. value_error if nobody has registered its class.
Config savedUsersMetric(const Metric &metric);
/// The metric of a Keras name, or of one that the user registered. value_error that lists the known names.
std::shared_ptr<MetricImpl> metricNamed(const std::string &name);
/// Whether the library has a metric of that name. Its classes' names are not meant: a file tells them from users' classes.
bool isNameOfMetric(const std::string &name);
/// The classes that metrics::deserialize() knows, in alphabetical order.
std::vector<std::string> metricClasses();
/// Makes the state of a metric that needs the shapes for it, if it has none yet.
void buildMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred);

/// Records the addition of a batch to the state. With an undefined weight every sample counts once.
void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// The results of the metric's state, or of given values of each variable.
std::vector<double> metricResults(const Metric &metric);
std::vector<double> metricResults(const Metric &metric, const std::vector<Tensor> &state);
/// What variable `i` of the metric's state begins with.
Tensor initialValue(const MetricImpl &metric, size_t i);
void resetMetric(const Metric &metric);
/// The metric for one output, with its state. `metric` itself if it is an object that nobody uses, which `use` then does while
/// it lives; else one with a state of its own, since an object may be given for several outputs, twice in one compile(), or
/// to several models. Shapes begin with the batch.
Metric ownMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred, const std::shared_ptr<const void> &use);

/// A running mean of scalars, such as the loss weighted by batch size. Copies share the state.
class MeanTracker {
public:
  explicit MeanTracker(std::string name);
  std::string name() const;
  /// Recorded. `value` is the part of this process, whose batch has `ownRows`.
  void update(const Value &value, int64_t ownRows) const;
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
