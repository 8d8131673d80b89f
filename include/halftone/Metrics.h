// Metrics: a name, an object, or any function of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Losses.h"

namespace halftone {
struct MetricVariableArgs { // Metric.add_variable, in Keras's order
  Shape shape{};
  Initializer initializer = "zeros";
  std::optional<DType> dtype{}; // the metric's
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
class HALFTONE_API MetricBody { // the interface behind a user's metric
public:
  virtual ~MetricBody();
  virtual std::unique_ptr<MetricBody> clone() const = 0; // for another output, before build()
  virtual bool takes_weight() const = 0;                 // whether update_state() takes a sample_weight
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
/// A struct with  build(MetricContext &),  which adds variables,  update_state(const Value &y_true, const Value &y_pred[,
/// const Value &sample_weight]),  which assigns to them, and  Value result() const,  a scalar computed from them alone.
/// Optional:  get_config(Config &) const,  static T from_config(const Config &).
///
/// A Metric made of it has a copy of the struct and a state of its own, which begins, after reset_state() too, with the
/// values of the initializers; its name is the class's in snake case. A sample_weight is a value_error if update_state()
/// takes none, and undefined if there is none. result() runs on the host when it is read; value_error unless it is
/// a scalar and reads no variable but those of build().
/// If several processes share a batch, update_state() gets the rows of its own process. assign_add() and assign_sub() sum
/// the added value over the processes; assign() to the metric's variables is a not_implemented_error there.
template <class T>
concept CustomMetric = !std::derived_from<T, Metric> && detail::Updates<T> && detail::Results<T>;
namespace detail {
template <class T> // a struct that is a metric but for a method of another signature
concept AlmostMetric = !CustomMetric<T> && requires(T &t, MetricContext &c) { t.build(c); };
} // namespace detail
struct MetricArgs {
  std::string name{};
  PolicyArg dtype{}; // of the state; empty: floatx, not the global policy; a policy gives its compute dtype
};
/// Adds batches up in its state. Most metrics keep a total and a count; their result is total / count. Copies share the
/// state. compile() chooses the kind of "accuracy", "acc", "crossentropy" and "ce" by the shapes of the target and the
/// output; until then they have no state. The state of FBetaScore, F1Score, R2Score and of an AUC of labels is made at
/// the first batch, whose classes it counts. In fit() and evaluate() a metric whose result is several numbers has an
/// entry of the logs for each: "precision[0]", "precision[1]".
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
  /// A function of losses:: counts as its name, which files hold.
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
  /// Compiled. value_error for a metric whose kind compile() has not chosen yet.
  void update_state(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const;
  /// Recorded in the function being traced: the metric counts inside jit, and result() is read outside, when needed.
  void update_state(const Value &y_true, const Value &y_pred, const Value &sample_weight = {}) const;
  double result() const;               // 0 before any sample; value_error if the result is several numbers
  std::vector<double> results() const; // one for each threshold or class where Keras's result is a vector
  void reset_state() const;
  std::vector<Variable> variables() const; // the state; of a mean: total, count
  Config get_config() const;               // {"name", "dtype"} and the metric's own
  const std::shared_ptr<detail::MetricImpl> &impl() const { return impl_; }

private:
  Metric(std::unique_ptr<detail::MetricBody> body, std::string class_name, const MetricArgs &args);
  std::shared_ptr<detail::MetricImpl> impl_;
};
/// Files name the metric "package>Class" or "Class"; `make` gets its config, whose name and dtype the metric then has.
/// compile() takes the registered name of a function too. value_error for another form of the name, and without a function:
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
struct CorrelationArgs {
  std::string name{};
  PolicyArg dtype{};
  int64_t axis = -1;
};
struct ThresholdsArgs {
  Numbers thresholds{}; // 0.5
  std::string name{};
  PolicyArg dtype{};
};
struct PrecisionArgs {
  Numbers thresholds{};              // 0.5; with top_k every prediction that top_k keeps is positive
  std::optional<int64_t> top_k{};    // of each row only the k largest predictions can be positive
  std::optional<int64_t> class_id{}; // only this class of the last axis counts
  std::string name{};
  PolicyArg dtype{};
};
struct AtThresholdArgs {
  int64_t num_thresholds = 200; // at equal distances from 0 to 1; one: 0.5
  std::optional<int64_t> class_id{};
  std::string name{};
  PolicyArg dtype{};
};
enum class AUCCurve : uint8_t { ROC, PR, PRGAIN };
/// How the area between two thresholds is found: with the mean of the two heights, the larger or the smaller one. Of the
/// curve PR, `interpolation` draws a line through the counts.
enum class AUCSummationMethod : uint8_t { interpolation, majoring, minoring };
struct AUCArgs {
  int64_t num_thresholds = 200; // at equal distances from 0 to 1
  AUCCurve curve = AUCCurve::ROC;
  AUCSummationMethod summation_method = AUCSummationMethod::interpolation;
  std::string name{};
  PolicyArg dtype{};
  std::vector<double> thresholds{};    // besides 0 and 1, in the place of num_thresholds
  bool multi_label = false;            // (batch, labels): the mean of each label's area
  std::optional<int64_t> num_labels{}; // with multi_label: the state is made at once
  std::vector<double> label_weights{}; // 1
  bool from_logits = false;
};
enum class FScoreAverage : uint8_t { micro, macro, weighted };
struct FBetaScoreArgs {
  /// micro: of the counts of all classes; macro: the mean of the classes; weighted: by each class's positive targets.
  std::optional<FScoreAverage> average{}; // a result for each class
  double beta = 1.0;
  std::optional<double> threshold{}; // positive are predictions above it; none: the largest of each row
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
  std::optional<ClassAggregation> class_aggregation = ClassAggregation::uniform_average; // nullopt: one for each column
  int64_t num_regressors = 0; // the adjusted score if above 0
  std::string name{};
  PolicyArg dtype{};
};
struct IoUArgs {
  std::string name{};
  PolicyArg dtype{};                     // of the counts: int32
  std::optional<int64_t> ignore_class{}; // a target that does not count
  bool sparse_y_true = true;             // class indices; if false, the largest element along `axis` gives the class
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
/// The sum of values, each times its weight.
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
/// The share of predictions that equal their targets.
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
/// A sample is right if fewer than k entries are larger than the target's entry, so ties count. A row with an entry
/// that is not finite is wrong; so is a target outside of the classes.
class HALFTONE_API TopKCategoricalAccuracy : public Metric {
public:
  TopKCategoricalAccuracy(const TopKArgs &args = {});
};
class HALFTONE_API SparseTopKCategoricalAccuracy : public Metric {
public:
  SparseTopKCategoricalAccuracy(const TopKArgs &args = {});
};
/// The correlation of target and prediction along an axis: that of Pearson, and Lin's concordance, which is 1 only for
/// equal rows.
class HALFTONE_API PearsonCorrelation : public Metric {
public:
  PearsonCorrelation(const CorrelationArgs &args = {});
};
class HALFTONE_API ConcordanceCorrelation : public Metric {
public:
  ConcordanceCorrelation(const CorrelationArgs &args = {});
};

/// Counts of predictions in [0, 1] that are above a threshold (positive) or not (negative), and whose target, 0 or
/// another number, says so too (true) or not (false). A weight of samples weighs its samples' counts. value_error for a
/// threshold outside of [0, 1].
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
/// Of the positive predictions the share that is right: true positives / (true and false positives).
class HALFTONE_API Precision : public Metric {
public:
  Precision(const PrecisionArgs &args = {});
};
/// Of the positive targets the share that is found: true positives / (true positives and false negatives).
class HALFTONE_API Recall : public Metric {
public:
  Recall(const PrecisionArgs &args = {});
};
/// The best of one ratio among the thresholds at which the other ratio is at least the given one: sensitivity is
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
/// The area under a curve of recall by the share of false positives (ROC), of precision by recall (PR), or of their
/// gains (PRGAIN), from counts at thresholds. value_error for fewer than 2 thresholds, or `num_labels` without
/// `multi_label`.
class HALFTONE_API AUC : public Metric {
public:
  AUC(const AUCArgs &args = {});
};

/// (1 + beta^2) * precision * recall / (beta^2 * precision + recall) for each class of targets (batch, classes), which are
/// 0 or 1, and predictions of that shape. value_error unless beta > 0, 0 < threshold <= 1 and shapes are of rank 2.
class HALFTONE_API FBetaScore : public Metric {
public:
  FBetaScore(const FBetaScoreArgs &args = {});
};
/// FBetaScore with a beta of 1.
class HALFTONE_API F1Score : public Metric {
public:
  F1Score(const F1ScoreArgs &args = {});
};
/// 1 - squared errors / variance of the targets, for each column of targets and predictions (batch, columns). NaN after
/// reset_state(). value_error for other ranks or num_regressors below 0.
class HALFTONE_API R2Score : public Metric {
public:
  R2Score(const R2ScoreArgs &args = {});
};

/// The mean over the target classes of intersection / union: of the samples with the class as target and prediction, and
/// of those with the class as either. A sample whose target or prediction is no class counts nowhere, and a class without
/// samples is left out. The state counts in the dtype, int32 if none is given. value_error for a target class that is
/// none of the num_classes.
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
/// IoU of targets that have an axis of classes. The largest element along that axis gives the class.
class HALFTONE_API OneHotIoU : public Metric {
public:
  OneHotIoU(int64_t num_classes, const std::vector<int64_t> &target_class_ids, const OneHotIoUArgs &args = {});
};
class HALFTONE_API OneHotMeanIoU : public Metric {
public:
  explicit OneHotMeanIoU(int64_t num_classes, const OneHotIoUArgs &args = {});
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves a metric: value_error for a function, and for a
/// name, which Keras saves as it is. deserialize() throws value_error for an unknown class or argument.
HALFTONE_API Config serialize(const Metric &metric);
HALFTONE_API Metric deserialize(const Config &config);
} // namespace metrics
} // namespace halftone
