// The catalogue of metrics, for conversion from names and to and from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassNames.h"
#include "frontend/graph/Promotion.h"
#include "frontend/metrics/Fields.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

template <class Options> Metric made(FieldReader &reader) {
  Options options;
  reader.read(options, std::tuple{Field{"name", &Options::name}, Field{"dtype", &Options::dtype}});
  reader.read(options, MetricFields<Options>::all);
  return options.metric();
}
template <class MetricClass, class Args = MetricArgs> constexpr auto plain = made<MetricOptions<MetricClass, Args>>;
template <class MetricClass, class Args> constexpr auto ofTargets = made<TargetClassesOptions<MetricClass, Args>>;
template <class MetricClass, class Args> constexpr auto ofClasses = made<ClassesOptions<MetricClass, Args>>;
template <class MetricClass> constexpr auto atThreshold = made<AtThresholdOptions<MetricClass>>;

struct Known {
  const char *className;
  Metric (*make)(FieldReader &);
  const char *alias = nullptr; // also in upper case
  const char *needs = nullptr; // required arguments
};
using namespace metrics;
constexpr Known catalogue[] = {
    {"AUC", made<AUCOptions>},
    {"Accuracy", plain<Accuracy>},
    {"BinaryAccuracy", plain<BinaryAccuracy, BinaryAccuracyArgs>},
    {"BinaryCrossentropy", plain<BinaryCrossentropy, BinaryCrossentropyArgs>, "bce"},
    {"BinaryIoU", made<BinaryIoUOptions>},
    {"CategoricalAccuracy", plain<CategoricalAccuracy>},
    {"CategoricalCrossentropy", plain<CategoricalCrossentropy, CategoricalCrossentropyArgs>},
    {"CategoricalHinge", plain<CategoricalHinge>},
    {"ConcordanceCorrelation", plain<ConcordanceCorrelation, CorrelationArgs>},
    {"CosineSimilarity", plain<CosineSimilarity, CosineSimilarityArgs>},
    {"F1Score", plain<F1Score, F1ScoreArgs>},
    {"FBetaScore", plain<FBetaScore, FBetaScoreArgs>},
    {"FalseNegatives", plain<FalseNegatives, ThresholdsArgs>},
    {"FalsePositives", plain<FalsePositives, ThresholdsArgs>},
    {"Hinge", plain<Hinge>},
    {"IoU", ofTargets<IoU, IoUArgs>, nullptr, "num_classes, target_class_ids"},
    {"KLDivergence", plain<KLDivergence>},
    {"LogCoshError", plain<LogCoshError>},
    {"Mean", plain<Mean>},
    {"MeanAbsoluteError", plain<MeanAbsoluteError>, "mae"},
    {"MeanAbsolutePercentageError", plain<MeanAbsolutePercentageError>, "mape"},
    {"MeanIoU", ofClasses<MeanIoU, IoUArgs>, nullptr, "num_classes"},
    {"MeanSquaredError", plain<MeanSquaredError>, "mse"},
    {"MeanSquaredLogarithmicError", plain<MeanSquaredLogarithmicError>, "msle"},
    {"OneHotIoU", ofTargets<OneHotIoU, OneHotIoUArgs>, nullptr, "num_classes, target_class_ids"},
    {"OneHotMeanIoU", ofClasses<OneHotMeanIoU, OneHotIoUArgs>, nullptr, "num_classes"},
    {"PearsonCorrelation", plain<PearsonCorrelation, CorrelationArgs>},
    {"Poisson", plain<Poisson>},
    {"Precision", plain<Precision, PrecisionArgs>},
    {"PrecisionAtRecall", atThreshold<PrecisionAtRecall>, nullptr, "recall"},
    {"R2Score", plain<R2Score, R2ScoreArgs>},
    {"Recall", plain<Recall, PrecisionArgs>},
    {"RecallAtPrecision", atThreshold<RecallAtPrecision>, nullptr, "precision"},
    {"RootMeanSquaredError", plain<RootMeanSquaredError>},
    {"SensitivityAtSpecificity", atThreshold<SensitivityAtSpecificity>, nullptr, "specificity"},
    {"SparseCategoricalAccuracy", plain<SparseCategoricalAccuracy>},
    {"SparseCategoricalCrossentropy", plain<SparseCategoricalCrossentropy, SparseCategoricalCrossentropyArgs>},
    {"SparseTopKCategoricalAccuracy", plain<SparseTopKCategoricalAccuracy, TopKArgs>},
    {"SpecificityAtSensitivity", atThreshold<SpecificityAtSensitivity>, nullptr, "sensitivity"},
    {"SquaredHinge", plain<SquaredHinge>},
    {"Sum", plain<Sum>},
    {"TopKCategoricalAccuracy", plain<TopKCategoricalAccuracy, TopKArgs>},
    {"TrueNegatives", plain<TrueNegatives, ThresholdsArgs>},
    {"TruePositives", plain<TruePositives, ThresholdsArgs>},
};

constexpr std::string_view byShape[] = {"accuracy", "acc", "crossentropy", "ce"};

std::string lower(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// Keras's choice of the kind: binary for a single output, sparse if the target has no class axis.
std::string_view kindFor(std::string_view name, const Shape &yTrue, const Shape &yPred) {
  bool accuracy = lower(name).starts_with("acc");
  if (yPred.rank() < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' needs a batch of predictions. Received: y_pred.shape={}", name, yPred.str()));
  if (yPred[-1] == 1)
    return accuracy ? "BinaryAccuracy" : "BinaryCrossentropy";
  bool sparse = yTrue.rank() < yPred.rank() || yTrue[-1] == 1;
  if (sparse)
    return accuracy ? "SparseCategoricalAccuracy" : "SparseCategoricalCrossentropy";
  return accuracy ? "CategoricalAccuracy" : "CategoricalCrossentropy";
}

/// The names of a row: its class, that name in snake case, and its alias.
std::vector<std::string> namesOf(const Known &row) {
  std::vector<std::string> names{row.className, snakeCase(row.className)};
  if (row.alias) {
    const std::string alias = row.alias;
    names.push_back(alias);
    std::ranges::transform(alias, names.emplace_back(alias).begin(), [](unsigned char c) { return std::toupper(c); });
  }
  return names;
}
/// The row with that name; null if there is none.
const Known *findRow(std::string_view name) {
  const auto *found = std::ranges::find_if(catalogue, [&](const Known &row) {
    const std::vector<std::string> names = namesOf(row);
    return std::ranges::find(names, name) != names.end();
  });
  return found == std::end(catalogue) ? nullptr : found;
}
const Known &rowNamed(std::string_view name) {
  if (const Known *row = findRow(name))
    return *row;
  std::string known = fmt::format("{}", fmt::join(byShape, ", "));
  for (const Known &row : catalogue)
    known += fmt::format(", {}", fmt::join(namesOf(row), ", "));
  throw Error(ErrorKind::value_error,
              fmt::format("Could not interpret metric identifier: {0}. Known: {1}. Register your own metric with "
                          "register_metric(\"{0}\", [](const Config &) {{ return Metric({0}); }})",
                          name, known));
}

/// Creates a metric of that row with this name.
std::shared_ptr<MetricImpl> madeWithName(const Known &row, const std::string &name) {
  if (row.needs)
    throw Error(
        ErrorKind::value_error,
        fmt::format("The metric '{}' needs arguments that a name does not provide: use the object metrics::{}({})",
                    name, row.className, row.needs));
  Config config;
  config.set("name", name);
  FieldReader reader(config);
  std::shared_ptr<MetricImpl> impl = row.make(reader).impl();
  impl->className.clear(); // a file holds the name alone
  return impl;
}

} // namespace

std::shared_ptr<MetricImpl> detail::metricNamed(const std::string &name) {
  std::shared_ptr<MetricImpl> impl;
  if (std::ranges::find(byShape, lower(name)) != std::end(byShape)) {
    impl = std::make_shared<MetricImpl>();
    impl->name = name;
    impl->dtype = floatxDtype();
    impl->choose = [name](const Shape &yTrue, const Shape &yPred) {
      return madeWithName(rowNamed(kindFor(name, yTrue, yPred)), name);
    };
  } else if (const auto make = registeredByName(name); make && !findRow(name)) {
    impl = make();
    impl->className.clear(); // a file holds the name alone
    impl->choose = [make](const Shape &, const Shape &) { return make(); };
  } else {
    const Known &row = rowNamed(name);
    impl = madeWithName(row, name);
    impl->choose = [&row, name](const Shape &, const Shape &) { return madeWithName(row, name); };
  }
  impl->identifier = name;
  return impl;
}

bool detail::isNameOfMetric(const std::string &name) {
  const Known *row = findRow(name);
  return std::ranges::find(byShape, lower(name)) != std::end(byShape) || (row && name != row->className);
}

std::vector<std::string> detail::metricClasses() {
  std::vector<std::string> classes;
  for (const Known &row : catalogue)
    classes.emplace_back(row.className);
  return classes;
}

Config metrics::serialize(const Metric &metric) {
  const MetricImpl &impl = *metric.impl();
  if (!impl.registeredName.empty() || (impl.rule && impl.rule->isUsers()))
    return savedUsersMetric(metric);
  if (impl.className.empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("The metric '{}' was created from a function or a name: no config can hold it", metric.name()));
  return serializedObject("keras.metrics", metric.impl()->className, metric.get_config());
}

Metric metrics::deserialize(const Config &config) {
  if (const std::optional<Metric> users = registeredMetric(config))
    return *users;
  return madeFrom(catalogue, config, "metric", "metrics");
}

} // namespace halftone
