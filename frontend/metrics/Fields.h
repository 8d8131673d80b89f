// The arguments of each metric as config keys, and the construction of metrics from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/metrics/MetricImpl.h"

namespace halftone::detail {

template <> inline constexpr const char *choice_words<metrics::AUCCurve>[] = {"ROC", "PR", "PRGAIN"};
template <>
inline constexpr const char *choice_words<metrics::AUCSummationMethod>[] = {"interpolation", "majoring", "minoring"};
template <> inline constexpr const char *choice_words<metrics::FScoreAverage>[] = {"micro", "macro", "weighted"};
template <>
inline constexpr const char *choice_words<metrics::ClassAggregation>[] = {"uniform_average",
                                                                          "variance_weighted_average"};

/// All arguments of a metric: its Args extended by the positional ones, and the metric that they construct.
template <class MetricClass, class Args> struct MetricOptions : Args {
  Metric metric() const { return MetricClass(static_cast<const Args &>(*this)); }
};
template <class MetricClass> struct AtThresholdOptions : metrics::AtThresholdArgs {
  double least = 0.0; // minimum of the other ratio
  Metric metric() const { return MetricClass(least, *this); }
};
template <class MetricClass, class Args> struct ClassesOptions : Args {
  int64_t numClasses = 0;
  Metric metric() const { return MetricClass(numClasses, static_cast<const Args &>(*this)); }
};
template <class MetricClass, class Args> struct TargetClassesOptions : ClassesOptions<MetricClass, Args> {
  std::vector<int64_t> targetClassIds{};
  Metric metric() const { return MetricClass(this->numClasses, targetClassIds, static_cast<const Args &>(*this)); }
};
struct BinaryIoUOptions : metrics::BinaryIoUArgs {
  std::vector<int64_t> targetClassIds{0, 1};
  Metric metric() const { return metrics::BinaryIoU(targetClassIds, *this); }
};

/// The fields of a metric's arguments other than name and dtype, in Keras's order.
template <class Args> constexpr std::tuple argFields{};
template <> inline constexpr std::tuple argFields<metrics::TopKArgs>{Field{"k", &metrics::TopKArgs::k}};
template <>
inline constexpr std::tuple argFields<metrics::BinaryAccuracyArgs>{
    Field{"threshold", &metrics::BinaryAccuracyArgs::threshold}};
template <>
inline constexpr std::tuple argFields<metrics::BinaryCrossentropyArgs>{
    Field{"from_logits", &metrics::BinaryCrossentropyArgs::from_logits},
    Field{"label_smoothing", &metrics::BinaryCrossentropyArgs::label_smoothing}};
template <>
inline constexpr std::tuple argFields<metrics::CosineSimilarityArgs>{
    Field{"axis", &metrics::CosineSimilarityArgs::axis}};
template <>
inline constexpr std::tuple argFields<metrics::CategoricalCrossentropyArgs>{
    Field{"from_logits", &metrics::CategoricalCrossentropyArgs::from_logits},
    Field{"label_smoothing", &metrics::CategoricalCrossentropyArgs::label_smoothing},
    Field{"axis", &metrics::CategoricalCrossentropyArgs::axis}};
template <>
inline constexpr std::tuple argFields<metrics::SparseCategoricalCrossentropyArgs>{
    Field{"from_logits", &metrics::SparseCategoricalCrossentropyArgs::from_logits}, FixedField{"ignore_class", nullptr},
    Field{"axis", &metrics::SparseCategoricalCrossentropyArgs::axis}};
template <>
inline constexpr std::tuple argFields<metrics::CorrelationArgs>{Field{"axis", &metrics::CorrelationArgs::axis}};
template <>
inline constexpr std::tuple argFields<metrics::ThresholdsArgs>{
    Field{"thresholds", &metrics::ThresholdsArgs::thresholds}};
template <>
inline constexpr std::tuple argFields<metrics::PrecisionArgs>{Field{"thresholds", &metrics::PrecisionArgs::thresholds},
                                                              Field{"top_k", &metrics::PrecisionArgs::top_k},
                                                              Field{"class_id", &metrics::PrecisionArgs::class_id}};
template <>
inline constexpr std::tuple argFields<metrics::FBetaScoreArgs>{Field{"average", &metrics::FBetaScoreArgs::average},
                                                               Field{"beta", &metrics::FBetaScoreArgs::beta},
                                                               Field{"threshold", &metrics::FBetaScoreArgs::threshold}};
template <>
inline constexpr std::tuple argFields<metrics::F1ScoreArgs>{Field{"average", &metrics::F1ScoreArgs::average},
                                                            Field{"threshold", &metrics::F1ScoreArgs::threshold}};
template <>
inline constexpr std::tuple argFields<metrics::R2ScoreArgs>{
    Field{"class_aggregation", &metrics::R2ScoreArgs::class_aggregation},
    Field{"num_regressors", &metrics::R2ScoreArgs::num_regressors}};
template <>
inline constexpr std::tuple argFields<metrics::IoUArgs>{
    Field{"ignore_class", &metrics::IoUArgs::ignore_class}, Field{"sparse_y_true", &metrics::IoUArgs::sparse_y_true},
    Field{"sparse_y_pred", &metrics::IoUArgs::sparse_y_pred}, Field{"axis", &metrics::IoUArgs::axis}};
template <>
inline constexpr std::tuple argFields<metrics::OneHotIoUArgs>{
    Field{"ignore_class", &metrics::OneHotIoUArgs::ignore_class},
    Field{"sparse_y_pred", &metrics::OneHotIoUArgs::sparse_y_pred}, Field{"axis", &metrics::OneHotIoUArgs::axis}};

/// A list of numbers whose key is absent from a config if the list is empty.
template <class Args> struct PresentField {
  const char *key;
  std::vector<double> Args::*member;
  void write(Config &config, const Args &args) const {
    if (!(args.*member).empty())
      setField(config, key, args.*member);
  }
  void read(FieldReader &reader, Args &args) const { reader.readOne(key, args.*member); }
};
/// A list of numbers in a config, or null if it is empty. Keras writes a tensor: {"class_name": "__tensor__", "config":
/// {"value"}}.
template <class Args> struct TensorField {
  const char *key;
  std::vector<double> Args::*member;
  void write(Config &config, const Args &args) const {
    if ((args.*member).empty())
      config.set_null(key);
    else
      setField(config, key, args.*member);
  }
  void read(FieldReader &reader, Args &args) const {
    if (!reader.takes(key) || reader.isNull(key))
      return;
    if (reader.isObject(key))
      args.*member =
          FieldReader(reader.config().get_object(key).get_object("config")).get<std::vector<double>>("value");
    else
      args.*member = reader.get<std::vector<double>>(key);
  }
};

/// All fields of a metric's arguments other than name and dtype.
template <class Options> struct MetricFields;
template <class MetricClass, class Args> struct MetricFields<MetricOptions<MetricClass, Args>> {
  static constexpr auto all = argFields<Args>;
};
template <class MetricClass, class Args> struct MetricFields<ClassesOptions<MetricClass, Args>> {
  using Options = ClassesOptions<MetricClass, Args>;
  static constexpr auto all =
      std::tuple_cat(std::tuple{Field{"num_classes", &Options::numClasses, Presence::required}}, argFields<Args>);
};
template <class MetricClass, class Args> struct MetricFields<TargetClassesOptions<MetricClass, Args>> {
  using Options = TargetClassesOptions<MetricClass, Args>;
  static constexpr auto all =
      std::tuple_cat(std::tuple{Field<ClassesOptions<MetricClass, Args>, int64_t>{
                                    "num_classes", &ClassesOptions<MetricClass, Args>::numClasses, Presence::required},
                                Field{"target_class_ids", &Options::targetClassIds, Presence::required}},
                     argFields<Args>);
};
template <> struct MetricFields<BinaryIoUOptions> {
  static constexpr std::tuple all{Field{"target_class_ids", &BinaryIoUOptions::targetClassIds},
                                  Field{"threshold", &metrics::BinaryIoUArgs::threshold}};
};
/// The config key of the ratio that is constrained.
template <class MetricClass> inline constexpr const char *minKey = nullptr;
template <> inline constexpr const char *minKey<metrics::SensitivityAtSpecificity> = "specificity";
template <> inline constexpr const char *minKey<metrics::SpecificityAtSensitivity> = "sensitivity";
template <> inline constexpr const char *minKey<metrics::PrecisionAtRecall> = "recall";
template <> inline constexpr const char *minKey<metrics::RecallAtPrecision> = "precision";
template <class MetricClass> struct MetricFields<AtThresholdOptions<MetricClass>> {
  using Options = AtThresholdOptions<MetricClass>;
  static constexpr std::tuple all{Field{"class_id", &metrics::AtThresholdArgs::class_id},
                                  Field{"num_thresholds", &metrics::AtThresholdArgs::num_thresholds},
                                  Field{minKey<MetricClass>, &Options::least, Presence::required}};
};
using AUCOptions = MetricOptions<metrics::AUC, metrics::AUCArgs>;
template <> struct MetricFields<AUCOptions> {
  using Args = metrics::AUCArgs;
  static constexpr std::tuple all{Field{"num_thresholds", &Args::num_thresholds},
                                  Field{"curve", &Args::curve},
                                  Field{"summation_method", &Args::summation_method},
                                  Field{"multi_label", &Args::multi_label},
                                  Field{"num_labels", &Args::num_labels},
                                  TensorField{"label_weights", &Args::label_weights},
                                  Field{"from_logits", &Args::from_logits},
                                  PresentField{"thresholds", &Args::thresholds}};
};

/// A metric of a class, with the given name or else `name`.
template <class Options>
Metric metricOfClass(const char *className, const std::string &name, const Options &options, DType dtype,
                     std::shared_ptr<const MetricRule> rule) {
  std::shared_ptr<MetricImpl> impl = makeMetric(options.name.empty() ? name : options.name, dtype, std::move(rule));
  impl->className = className;
  writeFields(impl->ownConfig, options, MetricFields<Options>::all);
  return Metric(std::move(impl));
}
/// Like the above, with a float dtype from the options.
template <class Options>
Metric metricOfClass(const char *className, const std::string &name, const Options &options,
                     std::shared_ptr<const MetricRule> rule) {
  return metricOfClass(className, name, options, dtypeOfArgument(options.dtype, className), std::move(rule));
}
/// Like the above, with Keras's automatic name for the class.
template <class Options>
Metric metricOfClass(const char *className, const Options &options, std::shared_ptr<const MetricRule> rule) {
  return metricOfClass(className, options.name.empty() ? uniqueName(className) : options.name, options,
                       std::move(rule));
}

} // namespace halftone::detail
