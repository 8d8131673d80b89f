// Metrics: by name, as objects, or as functions of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Losses.h"

namespace halftone {
struct MetricVariableArgs { // Metric.add_variable, in Keras's order
  Shape shape{};
  Initializer initializer = "zeros";
  std::optional<DType> dtype{}; // default: that of the metric
  std::string name{};
};
class HALFTONE_API MetricContext { // the context of a user's metric's build()
public:
  Variable add_variable(const MetricVariableArgs &args = {});
  struct Rep;
  explicit MetricContext(Rep &rep) : rep_(rep) {}

private:
  Rep &rep_;
};
namespace detail {
struct MetricImpl;
class HALFTONE_API MetricBody { // the implementation interface of a user's metric
public:
  virtual ~MetricBody();
  virtual std::unique_ptr<MetricBody> clone() const = 0; // for another output, before build()
  virtual bool takes_weight() const = 0;                 // true if update_state() takes a sample_weight
  virtual void build(MetricContext &) = 0;
  virtual void update_state(const Value &y_true, const Value &y_pred, const Value &sample_weight) = 0;
  virtual Value result() const = 0;
  virtual void get_config(Config &) const {}
};
template <class T>
concept UpdatesWeighted = requires(T &t, const Value &v) { t.update_state(v, v, v); };
template <class T>
concept Updates = UpdatesWeighted<T> || requires(T &t, const Value &v) { t.update_state(v, v); };
template <class T>
concept Results = requires(const T &t) {
  { t.result() } -> std::convertible_to<Value>;
};
template <class T> class CustomMetricBody final : public MetricBody {
public:
  explicit CustomMetricBody(T t) : self(std::move(t)) {}
  std::unique_ptr<MetricBody> clone() const override { return std::make_unique<CustomMetricBody>(self); }
  static_assert(
      requires(T &t, MetricContext &c) { t.build(c); }, "a metric's build must be callable as build(MetricContext &)");
  void build(MetricContext &c) override { self.build(c); }
  void update_state(const Value &y, const Value &p, [[maybe_unused]] const Value &w) override {
    if constexpr (UpdatesWeighted<T>)
      self.update_state(y, p, w);
    else
      self.update_state(y, p);
  }
  bool takes_weight() const override { return UpdatesWeighted<T>; }
  Value result() const override { return self.result(); }
  void get_config(Config &c) const override {
    if constexpr (HasConfig<T>)
      self.get_config(c);
  }
  T self;
};
} // namespace detail
class Metric;
/// A struct with  build(MetricContext &),  which adds variables,
/// update_state(const Value &y_true, const Value &y_pred[, const Value &sample_weight]),  which assigns to them, and
/// Value result() const,  a scalar computed only from them. Optional:  get_config(Config &) const,
/// static T from_config(const Config &).
///
/// A Metric made from it holds a copy of the struct and its own state, which is set to the initializers' values at
/// first and by reset_state(). Its name is the class name in snake case. A sample_weight is a value_error if
/// update_state() does not take one; without weights update_state() gets an undefined Value. result() runs on the host
/// when it is read; value_error unless it is a scalar and reads only the variables of build().
/// If several processes share a batch, update_state() gets the rows of its own process. Then assign_add() and
/// assign_sub() sum their argument over the processes, and assign() to the metric's variables is a
/// not_implemented_error.
template <class T>
concept CustomMetric = !std::derived_from<T, Metric> && detail::Updates<T> && detail::Results<T>;
namespace detail {
template <class T> // a struct that would be a metric if its methods had the right signatures
concept AlmostMetric = !CustomMetric<T> && requires(T &t, MetricContext &c) { t.build(c); };
} // namespace detail
struct MetricArgs {
  std::string name{};
  PolicyArg dtype{}; // the dtype of the state; empty: floatx, not the global policy; for a policy its compute dtype
};
/// A metric, which accumulates batches in its state. Most metrics keep a total and a count; their result is total /
/// count. Copies share the state. compile() selects the class for "accuracy", "acc", "crossentropy" and "ce" by the
/// shapes of the target and the output; until then they have no state. The state of FBetaScore, F1Score, R2Score and of
/// a multi-label AUC is created at the first batch, which determines the number of classes. In fit() and evaluate() a
/// metric with several results has one log entry for each: "precision[0]", "precision[1]".
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
  /// A function of losses:: is saved by its name.
  Metric(Value (*f)(const Value &, const Value &), const MetricArgs &args = {});
  template <CustomMetric T>
  Metric(T self, const MetricArgs &args = {})
      : Metric(std::make_unique<detail::CustomMetricBody<T>>(std::move(self)), detail::type_name<T>(), args) {}
  template <detail::AlmostMetric T> Metric(T, const MetricArgs & = {}) {
    static_assert(CustomMetric<T>,
                  "a metric needs update_state(const Value &y_true, const Value &y_pred), or with a third "
                  "const Value &sample_weight, and Value result() const");
  }
  explicit Metric(std::shared_ptr<detail::MetricImpl> impl);
  std::string name() const;
  DType dtype() const;
  /// Compiles and runs the update. value_error for a metric whose class compile() has not selected yet.
  void update_state(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const;
  /// Records the update in the function being traced: the metric accumulates inside jit, and result() is read outside.
  void update_state(const Value &y_true, const Value &y_pred, const Value &sample_weight = {}) const;
  double result() const;               // 0 before any sample; value_error if there are several results
  std::vector<double> results() const; // one per threshold or class if Keras's result is a vector
  void reset_state() const;
  std::vector<Variable> variables() const; // the state; for a mean: total, count
  Config get_config() const;               // {"name", "dtype"} and the metric's own fields
  const std::shared_ptr<detail::MetricImpl> &impl() const { return impl_; }

private:
  Metric(std::unique_ptr<detail::MetricBody> body, std::string class_name, const MetricArgs &args);
  std::shared_ptr<detail::MetricImpl> impl_;
};
/// Registers a metric for files under "package>Class" or "Class"; `make` creates it from its config, whose name and
/// dtype the metric then has. compile() also accepts the registered name of a function. value_error for another form of
/// the name, and for an empty `make`:
///     register_metric("my_metric", [](const Config &) { return Metric(my_metric); });
HALFTONE_API void register_metric(const std::string &registered_name, std::function<Metric(const Config &)> make);
template <CustomMetric T> void register_metric(const std::string &package = {}) {
  static_assert(
      requires(const Config &c) {
        { T::from_config(c) } -> std::convertible_to<T>;
      }, "a metric that files hold needs static T from_config(const Config &)");
  register_metric(detail::registered_name<T>(package),
                  [](const Config &config) { return Metric(T::from_config(config)); });
}
namespace metrics {
struct TopKArgs {
  int64_t k = 5;
  std::string name{};
  PolicyArg dtype{};
};
struct BinaryAccuracyArgs {
  std::string name{};
  PolicyArg dtype{};
  double threshold = 0.5; // value_error unless in (0, 1)
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
struct CorrelationArgs {
  std::string name{};
  PolicyArg dtype{};
  int64_t axis = -1;
};
struct ThresholdsArgs {
  Numbers thresholds{}; // default: 0.5
  std::string name{};
  PolicyArg dtype{};
};
struct PrecisionArgs {
  Numbers thresholds{};              // default: 0.5; with top_k every prediction that top_k keeps is positive
  std::optional<int64_t> top_k{};    // only the k largest predictions of each row can be positive
  std::optional<int64_t> class_id{}; // only this class of the last axis is counted
  std::string name{};
  PolicyArg dtype{};
};
struct AtThresholdArgs {
  int64_t num_thresholds = 200; // equidistant from 0 to 1; a single one is 0.5
  std::optional<int64_t> class_id{};
  std::string name{};
  PolicyArg dtype{};
};
enum class AUCCurve : uint8_t { ROC, PR, PRGAIN };
/// How the area between two thresholds is summed: with the mean, the larger or the smaller of the heights at both ends.
/// For the PR curve, `interpolation` interpolates the counts.
enum class AUCSummationMethod : uint8_t { interpolation, majoring, minoring };
struct AUCArgs {
  int64_t num_thresholds = 200; // equidistant from 0 to 1
  AUCCurve curve = AUCCurve::ROC;
  AUCSummationMethod summation_method = AUCSummationMethod::interpolation;
  std::string name{};
  PolicyArg dtype{};
  std::vector<double> thresholds{};    // besides 0 and 1; replaces num_thresholds
  bool multi_label = false;            // (batch, labels): the mean area over the labels
  std::optional<int64_t> num_labels{}; // with multi_label: creates the state immediately
  std::vector<double> label_weights{}; // one per label; default: 1
  bool from_logits = false;
};
enum class FScoreAverage : uint8_t { micro, macro, weighted };
struct FBetaScoreArgs {
  /// micro: from the counts of all classes; macro: the mean over the classes; weighted: by the positive targets per
  /// class.
  std::optional<FScoreAverage> average{}; // none: one result per class
  double beta = 1.0;
  std::optional<double> threshold{}; // predictions above it are positive; none: the largest of each row
  std::string name{};
  PolicyArg dtype{};
};
struct F1ScoreArgs {
  std::optional<FScoreAverage> average{};
  std::optional<double> threshold{};
  std::string name{};
  PolicyArg dtype{};
};
enum class ClassAggregation : uint8_t { uniform_average, variance_weighted_average };
struct R2ScoreArgs {
  std::optional<ClassAggregation> class_aggregation = ClassAggregation::uniform_average; // nullopt: one per column
  int64_t num_regressors = 0; // if positive, computes the adjusted score
  std::string name{};
  PolicyArg dtype{};
};
struct IoUArgs {
  std::string name{};
  PolicyArg dtype{};                     // the dtype of the counts; default: int32
  std::optional<int64_t> ignore_class{}; // targets of this class are ignored
  bool sparse_y_true = true;             // class indices; if false, the class is the argmax along `axis`
  bool sparse_y_pred = true;
  int64_t axis = -1;
};
struct BinaryIoUArgs {
  double threshold = 0.5;
  std::string name{};
  PolicyArg dtype{};
};
struct OneHotIoUArgs {
  std::string name{};
  PolicyArg dtype{};
  std::optional<int64_t> ignore_class{};
  bool sparse_y_pred = false;
  int64_t axis = -1;
};
class HALFTONE_API Mean : public Metric {
public:
  Mean(const MetricArgs &args = {});
  void update_state(const Tensor &values, const Tensor &sample_weight = {}) const;
  void update_state(const Value &values, const Value &sample_weight = {}) const; // recorded
};
/// The weighted sum of values.
class HALFTONE_API Sum : public Metric {
public:
  Sum(const MetricArgs &args = {});
  void update_state(const Tensor &values, const Tensor &sample_weight = {}) const;
  void update_state(const Value &values, const Value &sample_weight = {}) const; // recorded
};
class HALFTONE_API MeanSquaredError : public Metric {
public:
  MeanSquaredError(const MetricArgs &args = {});
};
class HALFTONE_API MeanAbsoluteError : public Metric {
public:
  MeanAbsoluteError(const MetricArgs &args = {});
};
class HALFTONE_API MeanAbsolutePercentageError : public Metric {
public:
  MeanAbsolutePercentageError(const MetricArgs &args = {});
};
class HALFTONE_API MeanSquaredLogarithmicError : public Metric {
public:
  MeanSquaredLogarithmicError(const MetricArgs &args = {});
};
class HALFTONE_API Poisson : public Metric {
public:
  Poisson(const MetricArgs &args = {});
};
class HALFTONE_API Hinge : public Metric {
public:
  Hinge(const MetricArgs &args = {});
};
class HALFTONE_API SquaredHinge : public Metric {
public:
  SquaredHinge(const MetricArgs &args = {});
};
class HALFTONE_API CategoricalHinge : public Metric {
public:
  CategoricalHinge(const MetricArgs &args = {});
};
class HALFTONE_API KLDivergence : public Metric {
public:
  KLDivergence(const MetricArgs &args = {});
};
class HALFTONE_API LogCoshError : public Metric {
public:
  LogCoshError(const MetricArgs &args = {});
};
class HALFTONE_API RootMeanSquaredError : public Metric {
public:
  RootMeanSquaredError(const MetricArgs &args = {});
};
/// The cosine of the angle between target and prediction: 1 for equal directions.
class HALFTONE_API CosineSimilarity : public Metric {
public:
  CosineSimilarity(const CosineSimilarityArgs &args = {});
};
class HALFTONE_API BinaryCrossentropy : public Metric {
public:
  BinaryCrossentropy(const BinaryCrossentropyArgs &args = {});
};
class HALFTONE_API CategoricalCrossentropy : public Metric {
public:
  CategoricalCrossentropy(const CategoricalCrossentropyArgs &args = {});
};
class HALFTONE_API SparseCategoricalCrossentropy : public Metric {
public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyArgs &args = {});
};
/// The fraction of predictions that equal their targets.
class HALFTONE_API Accuracy : public Metric {
public:
  Accuracy(const MetricArgs &args = {});
};
class HALFTONE_API BinaryAccuracy : public Metric {
public:
  BinaryAccuracy(const BinaryAccuracyArgs &args = {});
};
/// Targets are one-hot.
class HALFTONE_API CategoricalAccuracy : public Metric {
public:
  CategoricalAccuracy(const MetricArgs &args = {});
};
class HALFTONE_API SparseCategoricalAccuracy : public Metric {
public:
  SparseCategoricalAccuracy(const MetricArgs &args = {});
};
/// A sample is correct if fewer than k entries exceed the target's entry, so ties are in its favor. A row with an entry
/// that is not finite, and a target out of range, are incorrect.
class HALFTONE_API TopKCategoricalAccuracy : public Metric {
public:
  TopKCategoricalAccuracy(const TopKArgs &args = {});
};
class HALFTONE_API SparseTopKCategoricalAccuracy : public Metric {
public:
  SparseTopKCategoricalAccuracy(const TopKArgs &args = {});
};
/// The correlation of target and prediction along an axis: Pearson's, and Lin's concordance, which is 1 only for equal
/// rows.
class HALFTONE_API PearsonCorrelation : public Metric {
public:
  PearsonCorrelation(const CorrelationArgs &args = {});
};
class HALFTONE_API ConcordanceCorrelation : public Metric {
public:
  ConcordanceCorrelation(const CorrelationArgs &args = {});
};

/// Counts of predictions in [0, 1] that are above a threshold (positive) or not (negative), and that agree with their
/// target, which is 0 or nonzero (true), or not (false). sample_weight weights the counts. value_error for a threshold
/// outside of [0, 1].
class HALFTONE_API TruePositives : public Metric {
public:
  TruePositives(const ThresholdsArgs &args = {});
};
class HALFTONE_API FalsePositives : public Metric {
public:
  FalsePositives(const ThresholdsArgs &args = {});
};
class HALFTONE_API TrueNegatives : public Metric {
public:
  TrueNegatives(const ThresholdsArgs &args = {});
};
class HALFTONE_API FalseNegatives : public Metric {
public:
  FalseNegatives(const ThresholdsArgs &args = {});
};
/// The fraction of positive predictions that are correct: true positives / (true and false positives).
class HALFTONE_API Precision : public Metric {
public:
  Precision(const PrecisionArgs &args = {});
};
/// The fraction of positive targets that are found: true positives / (true positives and false negatives).
class HALFTONE_API Recall : public Metric {
public:
  Recall(const PrecisionArgs &args = {});
};
/// The best value of one ratio over the thresholds at which the other is at least the given value. Sensitivity is
/// recall, specificity is true negatives / (true negatives and false positives). value_error for a ratio outside of
/// [0, 1] or num_thresholds below 1.
class HALFTONE_API SensitivityAtSpecificity : public Metric {
public:
  explicit SensitivityAtSpecificity(double specificity, const AtThresholdArgs &args = {});
};
class HALFTONE_API SpecificityAtSensitivity : public Metric {
public:
  explicit SpecificityAtSensitivity(double sensitivity, const AtThresholdArgs &args = {});
};
class HALFTONE_API PrecisionAtRecall : public Metric {
public:
  explicit PrecisionAtRecall(double recall, const AtThresholdArgs &args = {});
};
class HALFTONE_API RecallAtPrecision : public Metric {
public:
  explicit RecallAtPrecision(double precision, const AtThresholdArgs &args = {});
};
/// The area under the curve of recall over the false positive rate (ROC), of precision over recall (PR), or of their
/// gains (PRGAIN), from counts at thresholds. value_error for fewer than 2 thresholds, and for `num_labels` without
/// `multi_label`.
class HALFTONE_API AUC : public Metric {
public:
  AUC(const AUCArgs &args = {});
};

/// (1 + beta^2) * precision * recall / (beta^2 * precision + recall) per class, for targets (batch, classes) of 0 or 1
/// and predictions of the same shape. value_error unless beta > 0, 0 < threshold <= 1 and the rank is 2.
class HALFTONE_API FBetaScore : public Metric {
public:
  FBetaScore(const FBetaScoreArgs &args = {});
};
/// FBetaScore with beta = 1.
class HALFTONE_API F1Score : public Metric {
public:
  F1Score(const F1ScoreArgs &args = {});
};
/// 1 - squared errors / variance of the targets, per column of targets and predictions (batch, columns). NaN after
/// reset_state(). value_error for other ranks, and for num_regressors below 0.
class HALFTONE_API R2Score : public Metric {
public:
  R2Score(const R2ScoreArgs &args = {});
};

/// Intersection over union, averaged over the target classes: the samples with the class as both target and prediction,
/// divided by those with the class as either. A sample whose target or prediction is not a class is ignored, and a
/// class without samples is excluded. The state counts in the dtype, by default int32. value_error for a target class
/// outside of [0, num_classes).
class HALFTONE_API IoU : public Metric {
public:
  IoU(int64_t num_classes, const std::vector<int64_t> &target_class_ids, const IoUArgs &args = {});
};
/// IoU of two classes: predictions of at least `threshold` are class 1.
class HALFTONE_API BinaryIoU : public Metric {
public:
  BinaryIoU(const std::vector<int64_t> &target_class_ids = {0, 1}, const BinaryIoUArgs &args = {});
};
/// IoU of all classes.
class HALFTONE_API MeanIoU : public Metric {
public:
  explicit MeanIoU(int64_t num_classes, const IoUArgs &args = {});
};
/// IoU of targets with an axis of classes. The class is the argmax along that axis.
class HALFTONE_API OneHotIoU : public Metric {
public:
  OneHotIoU(int64_t num_classes, const std::vector<int64_t> &target_class_ids, const OneHotIoUArgs &args = {});
};
class HALFTONE_API OneHotMeanIoU : public Metric {
public:
  explicit OneHotMeanIoU(int64_t num_classes, const OneHotIoUArgs &args = {});
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves a metric. value_error for a function, and for
/// a name, which Keras saves as a string. deserialize() throws value_error for an unknown class or argument.
HALFTONE_API Config serialize(const Metric &metric);
HALFTONE_API Metric deserialize(const Config &config);
} // namespace metrics
} // namespace halftone
