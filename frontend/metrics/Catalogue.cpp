// Metrics from configs and to configs: the list of all that there are.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ClassNames.h"
#include "frontend/MetricImpl.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::metrics {
using namespace detail;

namespace {

template <class Args> constexpr std::tuple ownFields{};
template <> inline constexpr std::tuple ownFields<TopKArgs>{Field{"k", &TopKArgs::k}};
template <>
inline constexpr std::tuple ownFields<BinaryAccuracyArgs>{Field{"threshold", &BinaryAccuracyArgs::threshold}};
template <>
inline constexpr std::tuple ownFields<BinaryCrossentropyArgs>{
    Field{"from_logits", &BinaryCrossentropyArgs::from_logits},
    Field{"label_smoothing", &BinaryCrossentropyArgs::label_smoothing}};
template <> inline constexpr std::tuple ownFields<CosineSimilarityArgs>{Field{"axis", &CosineSimilarityArgs::axis}};
template <>
inline constexpr std::tuple ownFields<CategoricalCrossentropyArgs>{
    Field{"from_logits", &CategoricalCrossentropyArgs::from_logits},
    Field{"label_smoothing", &CategoricalCrossentropyArgs::label_smoothing},
    Field{"axis", &CategoricalCrossentropyArgs::axis}};
template <>
inline constexpr std::tuple ownFields<SparseCategoricalCrossentropyArgs>{
    Field{"from_logits", &SparseCategoricalCrossentropyArgs::from_logits},
    Field{"axis", &SparseCategoricalCrossentropyArgs::axis}};

template <class T, class Args = MetricArgs> Metric made(FieldReader &reader) {
  Args args;
  reader.read(args, std::tuple{Field{"name", &Args::name}, Field{"dtype", &Args::dtype}});
  reader.read(args, ownFields<Args>);
  return T(args);
}

struct Known {
  const char *className, *kind;
  Metric (*make)(FieldReader &);
};
constexpr Known catalogue[] = {
    {"Accuracy", "accuracy", made<Accuracy>},
    {"BinaryAccuracy", "binary_accuracy", made<BinaryAccuracy, BinaryAccuracyArgs>},
    {"BinaryCrossentropy", "binary_crossentropy", made<BinaryCrossentropy, BinaryCrossentropyArgs>},
    {"CategoricalAccuracy", "categorical_accuracy", made<CategoricalAccuracy>},
    {"CategoricalCrossentropy", "categorical_crossentropy", made<CategoricalCrossentropy, CategoricalCrossentropyArgs>},
    {"CategoricalHinge", "categorical_hinge", made<CategoricalHinge>},
    {"CosineSimilarity", "cosine_similarity", made<CosineSimilarity, CosineSimilarityArgs>},
    {"Hinge", "hinge", made<Hinge>},
    {"KLDivergence", "kl_divergence", made<KLDivergence>},
    {"LogCoshError", "log_cosh", made<LogCoshError>},
    {"Mean", "mean", made<Mean>},
    {"MeanAbsoluteError", "mean_absolute_error", made<MeanAbsoluteError>},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", made<MeanAbsolutePercentageError>},
    {"MeanSquaredError", "mean_squared_error", made<MeanSquaredError>},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", made<MeanSquaredLogarithmicError>},
    {"Poisson", "poisson", made<Poisson>},
    {"RootMeanSquaredError", "root_mean_squared_error", made<RootMeanSquaredError>},
    {"SparseCategoricalAccuracy", "sparse_categorical_accuracy", made<SparseCategoricalAccuracy>},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
     made<SparseCategoricalCrossentropy, SparseCategoricalCrossentropyArgs>},
    {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy",
     made<SparseTopKCategoricalAccuracy, TopKArgs>},
    {"SquaredHinge", "squared_hinge", made<SquaredHinge>},
    {"TopKCategoricalAccuracy", "top_k_categorical_accuracy", made<TopKCategoricalAccuracy, TopKArgs>},
};

} // namespace

Config serialize(const Metric &metric) {
  for (const Known &known : catalogue)
    if (metric.impl()->kind == known.kind)
      return serializedObject("keras.metrics", known.className, metric.get_config());
  throw Error(
      ErrorKind::value_error,
      fmt::format("The metric '{}' is made of a function or a name: no object of a config can hold it", metric.name()));
}

Metric deserialize(const Config &config) { return madeFrom(catalogue, config, "metric", "metrics"); }

} // namespace halftone::metrics
