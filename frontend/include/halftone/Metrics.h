// Metrics: a name, an object, or any function of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Losses.h"

namespace halftone {
namespace detail {
struct MetricImpl;
}
struct MetricArgs {
  std::string name{};
  PolicyArg dtype{}; // of the state; empty: floatx, not the global policy; a policy gives its compute dtype
};
/// A mean over samples: its state is a total and a count. Copies share the state. compile() chooses the kind of
/// "accuracy", "acc", "crossentropy" and "ce" by the shapes of the target and the output; until then they have no
/// state.
class HALFTONE_API Metric {
public:
  Metric(const Metric &);
  Metric(Metric &&) noexcept;
  Metric &operator=(const Metric &) &;
  Metric &operator=(Metric &&) & noexcept;
  ~Metric();
  Metric(const char *name); // "mae", "mean_absolute_error", "MeanAbsoluteError"; value_error that lists the known names
  Metric(const std::string &name);
  template <std::invocable<const Value &, const Value &> F>
    requires std::convertible_to<std::invoke_result_t<F &, const Value &, const Value &>, Value>
  Metric(F f, const MetricArgs &args = {})
      : Metric(std::function<Value(const Value &, const Value &)>(std::move(f)), args) {}
  Metric(std::function<Value(const Value &, const Value &)> f, const MetricArgs &args = {});
  explicit Metric(std::shared_ptr<detail::MetricImpl> impl);
  std::string name() const;
  DType dtype() const;
  /// Compiled. value_error for a metric whose kind compile() has not chosen yet.
  void update_state(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const;
  double result() const; // 0 before any sample
  void reset_state() const;
  std::vector<Variable> variables() const; // total, count
  Config get_config() const;               // {"name", "dtype"} and the metric's own
  const std::shared_ptr<detail::MetricImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<detail::MetricImpl> impl_;
};
namespace metrics {
struct TopKArgs {
  int64_t k = 5;
  std::string name{};
  PolicyArg dtype{};
};
struct BinaryAccuracyArgs {
  std::string name{};
  PolicyArg dtype{};
  double threshold = 0.5; // value_error outside (0, 1)
};
struct BinaryCrossentropyArgs {
  std::string name{};
  PolicyArg dtype{};
  bool from_logits = false;
  double label_smoothing = 0.0;
};
struct CosineSimilarityArgs {
  std::string name{};
  PolicyArg dtype{};
  int64_t axis = -1;
};
struct CategoricalCrossentropyArgs {
  std::string name{};
  PolicyArg dtype{};
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
};
struct SparseCategoricalCrossentropyArgs {
  std::string name{};
  PolicyArg dtype{};
  bool from_logits = false;
  int64_t axis = -1;
};
class HALFTONE_API Mean : public Metric {
public:
  explicit Mean(const MetricArgs &args = {});
  void update_state(const Tensor &values, const Tensor &sample_weight = {}) const;
};
class HALFTONE_API MeanSquaredError : public Metric {
public:
  explicit MeanSquaredError(const MetricArgs &args = {});
};
class HALFTONE_API MeanAbsoluteError : public Metric {
public:
  explicit MeanAbsoluteError(const MetricArgs &args = {});
};
class HALFTONE_API MeanAbsolutePercentageError : public Metric {
public:
  explicit MeanAbsolutePercentageError(const MetricArgs &args = {});
};
class HALFTONE_API MeanSquaredLogarithmicError : public Metric {
public:
  explicit MeanSquaredLogarithmicError(const MetricArgs &args = {});
};
class HALFTONE_API Poisson : public Metric {
public:
  explicit Poisson(const MetricArgs &args = {});
};
class HALFTONE_API Hinge : public Metric {
public:
  explicit Hinge(const MetricArgs &args = {});
};
class HALFTONE_API SquaredHinge : public Metric {
public:
  explicit SquaredHinge(const MetricArgs &args = {});
};
class HALFTONE_API CategoricalHinge : public Metric {
public:
  explicit CategoricalHinge(const MetricArgs &args = {});
};
class HALFTONE_API KLDivergence : public Metric {
public:
  explicit KLDivergence(const MetricArgs &args = {});
};
class HALFTONE_API LogCoshError : public Metric {
public:
  explicit LogCoshError(const MetricArgs &args = {});
};
class HALFTONE_API RootMeanSquaredError : public Metric {
public:
  explicit RootMeanSquaredError(const MetricArgs &args = {});
};
/// The cosine of the angle between target and prediction: 1 for equal directions.
class HALFTONE_API CosineSimilarity : public Metric {
public:
  explicit CosineSimilarity(const CosineSimilarityArgs &args = {});
};
class HALFTONE_API BinaryCrossentropy : public Metric {
public:
  explicit BinaryCrossentropy(const BinaryCrossentropyArgs &args = {});
};
class HALFTONE_API CategoricalCrossentropy : public Metric {
public:
  explicit CategoricalCrossentropy(const CategoricalCrossentropyArgs &args = {});
};
class HALFTONE_API SparseCategoricalCrossentropy : public Metric {
public:
  explicit SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyArgs &args = {});
};
/// The share of predictions that equal their targets.
class HALFTONE_API Accuracy : public Metric {
public:
  explicit Accuracy(const MetricArgs &args = {});
};
class HALFTONE_API BinaryAccuracy : public Metric {
public:
  explicit BinaryAccuracy(const BinaryAccuracyArgs &args = {});
};
/// Targets are one-hot.
class HALFTONE_API CategoricalAccuracy : public Metric {
public:
  explicit CategoricalAccuracy(const MetricArgs &args = {});
};
class HALFTONE_API SparseCategoricalAccuracy : public Metric {
public:
  explicit SparseCategoricalAccuracy(const MetricArgs &args = {});
};
/// A sample is right if fewer than k entries are larger than the target's entry, so ties count. A row with an entry
/// that is not finite is wrong; so is a target outside of the classes.
class HALFTONE_API TopKCategoricalAccuracy : public Metric {
public:
  explicit TopKCategoricalAccuracy(const TopKArgs &args = {});
};
class HALFTONE_API SparseTopKCategoricalAccuracy : public Metric {
public:
  explicit SparseTopKCategoricalAccuracy(const TopKArgs &args = {});
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves a metric: value_error for a function, and for a
/// name, which Keras saves as it is. deserialize() throws value_error for an unknown class or argument.
HALFTONE_API Config serialize(const Metric &metric);
HALFTONE_API Metric deserialize(const Config &config);
} // namespace metrics
} // namespace halftone
