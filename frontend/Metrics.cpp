// The Metric handle: state, updates, names, and the metrics that are means of losses.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Metrics.h"
#include "frontend/LossImpl.h"
#include "frontend/Masks.h"
#include "frontend/MetricImpl.h"
#include "frontend/Promotion.h"
#include "frontend/SharedBatch.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone {
using namespace detail;

namespace {

using Formula = MetricImpl::Formula;

Value readState(const Variable &state) { return tracing().read(state.impl(), state.impl()->dtype); }

/// The mean over the axes from `first` on.
Value meanFrom(const Value &x, int64_t first) {
  if (x.rank() <= first)
    return x;
  int64_t count = 1;
  std::vector<int64_t> axes(static_cast<size_t>(x.rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  for (int64_t axis : axes)
    count *= x.shape()[axis];
  Value total = tracing().reduce(ReduceKind::sum, x, axes, x.dtype());
  return total / static_cast<double>(count);
}

/// keras.metrics.Mean.update_state.
/// `sum` adds up what processes of one step add.
void addValues(const MetricImpl &metric, const Value &given, const Value &givenWeight,
               Value (&sum)(const Value &) = sumOfRows) {
  Value values = asDtype(given, metric.dtype, "metric"), weight;
  if (givenWeight.defined()) {
    weight = asDtype(givenWeight, metric.dtype, "metric");
    matchRanks(values, weight);
    int64_t rank = weight.rank();
    values = meanFrom(values, rank);
    broadcastShape("sample_weight", values.shape(), weight.shape());
    weight = broadcastTo(weight, values.shape());
    values = values * weight;
    weight = meanFrom(weight, 1);
  }
  values = meanFrom(values, 1);
  Value total = values.rank() > 0 ? ops::sum(values) : values;
  Value old = readState(metric.count);
  Value count;
  if (weight.defined())
    count = weight.rank() > 0 ? ops::sum(weight) : weight;
  else
    count = scalarLike(values.rank() > 0 ? static_cast<double>(values.shape()[0]) : 1.0, old);
  metric.total.assign(readState(metric.total) + sum(total));
  metric.count.assign(old + sum(count));
}

Formula formulaOf(const Loss &loss) {
  return [loss](const Value &yTrue, const Value &yPred) {
    DType floatx = floatxDtype(), given = yPred.dtype();
    DType dtype = is_float(given) ? result_type(given, floatx) : floatx;
    return lossEntries(*loss.impl(), yTrue, yPred, dtype).values;
  };
}
Metric metricOf(const std::string &given, const Loss &loss, const PolicyArg &dtype) {
  std::string name = given.empty() ? loss.name() : given;
  std::shared_ptr<MetricImpl> impl = makeMetric(name, dtypeOfArgument(dtype, name), formulaOf(loss));
  impl->kind = loss.name();
  return Metric(std::move(impl));
}

/// The cosine itself: Keras's metric is the cosine, its loss the negative.
Formula cosineOf(int64_t axis) {
  return [loss = formulaOf(losses::CosineSimilarity(axis))](const Value &t, const Value &p) { return -loss(t, p); };
}
Value squaredErrors(const Value &yTrue, const Value &yPred) {
  Value t = asFloat(yTrue), p = asFloat(yPred);
  matchRanks(t, p);
  requireSameShape("root_mean_squared_error", t, p);
  return ops::square(p - t);
}

struct Named {
  std::array<std::string_view, 4> names;
  Formula (*make)();
  double (*finish)(double) = nullptr;
};
constexpr Named registry[] = {
    {{"binary_accuracy", "BinaryAccuracy"},
     [] { return Formula([](const Value &t, const Value &p) { return binaryAccuracyEntries(t, p, 0.5); }); }},
    {{"categorical_accuracy", "CategoricalAccuracy"}, [] { return Formula(categoricalAccuracyEntries); }},
    {{"sparse_categorical_accuracy", "SparseCategoricalAccuracy"},
     [] { return Formula(sparseCategoricalAccuracyEntries); }},
    {{"top_k_categorical_accuracy", "TopKCategoricalAccuracy"},
     [] { return Formula([](const Value &t, const Value &p) { return topKEntries(t, p, 5); }); }},
    {{"sparse_top_k_categorical_accuracy", "SparseTopKCategoricalAccuracy"},
     [] { return Formula([](const Value &t, const Value &p) { return sparseTopKEntries(t, p, 5); }); }},
    {{"mse", "MSE", "mean_squared_error", "MeanSquaredError"}, [] { return formulaOf("mse"); }},
    {{"mae", "MAE", "mean_absolute_error", "MeanAbsoluteError"}, [] { return formulaOf("mae"); }},
    {{"mape", "MAPE", "mean_absolute_percentage_error", "MeanAbsolutePercentageError"},
     [] { return formulaOf("mape"); }},
    {{"msle", "MSLE", "mean_squared_logarithmic_error", "MeanSquaredLogarithmicError"},
     [] { return formulaOf("msle"); }},
    {{"poisson", "Poisson"}, [] { return formulaOf("poisson"); }},
    {{"hinge", "Hinge"}, [] { return formulaOf("hinge"); }},
    {{"squared_hinge", "SquaredHinge"}, [] { return formulaOf("squared_hinge"); }},
    {{"categorical_hinge", "CategoricalHinge"}, [] { return formulaOf("categorical_hinge"); }},
    {{"kl_divergence", "KLDivergence"}, [] { return formulaOf("kld"); }},
    {{"log_cosh_error", "LogCoshError"}, [] { return formulaOf("log_cosh"); }},
    {{"cosine_similarity", "CosineSimilarity"}, [] { return cosineOf(-1); }},
    {{"root_mean_squared_error", "RootMeanSquaredError"}, [] { return Formula(squaredErrors); }, std::sqrt},
    {{"bce", "BCE", "binary_crossentropy", "BinaryCrossentropy"}, [] { return formulaOf("bce"); }},
    {{"categorical_crossentropy", "CategoricalCrossentropy"}, [] { return formulaOf("categorical_crossentropy"); }},
    {{"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"},
     [] { return formulaOf("sparse_categorical_crossentropy"); }},
};
constexpr std::string_view byShape[] = {"accuracy", "acc", "crossentropy", "ce"};

std::string lower(std::string_view name) {
  std::string result(name);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// Keras's choice of the kind: binary for one output, sparse if the target has no axis of classes.
std::string_view kindFor(std::string_view name, const Shape &yTrue, const Shape &yPred) {
  bool accuracy = lower(name).starts_with("acc");
  if (yPred.rank() < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' needs a batch of predictions. Received: y_pred.shape={}", name, yPred.str()));
  if (yPred[-1] == 1)
    return accuracy ? "binary_accuracy" : "binary_crossentropy";
  bool sparse = yTrue.rank() < yPred.rank() || yTrue[-1] == 1;
  if (sparse)
    return accuracy ? "sparse_categorical_accuracy" : "sparse_categorical_crossentropy";
  return accuracy ? "categorical_accuracy" : "categorical_crossentropy";
}

const Named &entryNamed(std::string_view name) {
  std::string known = fmt::format("{}", fmt::join(byShape, ", "));
  for (const Named &named : registry) {
    if (!name.empty() && std::find(named.names.begin(), named.names.end(), name) != named.names.end())
      return named;
    for (std::string_view each : named.names)
      if (!each.empty())
        known += fmt::format(", {}", each);
  }
  throw Error(ErrorKind::value_error, fmt::format("Could not interpret metric identifier: {}. Known: {}", name, known));
}

void requireKind(const MetricImpl &metric) {
  if (metric.needsShapes)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' has no kind before `compile()` has seen a target and an output: use "
                            "BinaryAccuracy, CategoricalAccuracy or SparseCategoricalAccuracy",
                            metric.name));
}

/// The function owns the metric: its formula is users' code, which may destroy the caller's handle.
void updateOnData(std::shared_ptr<MetricImpl> metric, const std::vector<Tensor> &feeds, bool weighted) {
  requireKind(*metric);
  CompiledFunction *function = nullptr;
  {
    const ForkSafeLock lock(metric->mutex);
    if (!metric->onData)
      metric->onData = std::make_unique<CompiledFunction>(
          FunctionOptions{.name = metric->name}, std::vector<std::string>{},
          [impl = metric.get()](Trace &, const std::vector<Value> &v, const FeedLayout &layout) {
            const bool hasWeight = layout.groups.at(1) > 0;
            if (!impl->formula)
              addValues(*impl, v[0], hasWeight ? v[1] : Value());
            else
              addValues(*impl, impl->formula(v[0], v[1]), hasWeight ? v[2] : Value());
            return std::vector<CompiledFunction::Named>{};
          });
    function = metric->onData.get();
  }
  function->run(feeds, {{std::ssize(feeds) - weighted, weighted}}); // values, weights
}

} // namespace

namespace detail {

std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, Formula formula) {
  auto impl = std::make_shared<MetricImpl>();
  impl->name = name;
  impl->dtype = dtype;
  impl->formula = std::move(formula);
  auto state = [&](const char *part) {
    return makeVariable(Tensor::zeros({}, dtype), {.name = part,
                                                   .path = fmt::format("{}/{}", name, part),
                                                   .role = VariableRole::metric,
                                                   .update = UpdateKind::assign,
                                                   .trainable = false,
                                                   .autocast = false});
  };
  impl->total = state("total");
  impl->count = state("count");
  return impl;
}

std::shared_ptr<MetricImpl> metricNamed(const std::string &name) {
  if (std::find(std::begin(byShape), std::end(byShape), lower(name)) != std::end(byShape)) {
    auto impl = std::make_shared<MetricImpl>();
    impl->name = impl->identifier = name;
    impl->dtype = floatxDtype();
    impl->needsShapes = true;
    impl->choose = [name](const Shape &yTrue, const Shape &yPred) {
      return makeMetric(name, floatxDtype(), entryNamed(kindFor(name, yTrue, yPred)).make());
    };
    return impl;
  }
  auto made = [name, &entry = entryNamed(name)] {
    std::shared_ptr<MetricImpl> impl = makeMetric(name, floatxDtype(), entry.make());
    impl->finish = entry.finish;
    return impl;
  };
  std::shared_ptr<MetricImpl> impl = made();
  impl->identifier = name;
  impl->choose = [made](const Shape &, const Shape &) { return made(); };
  return impl;
}

void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight) {
  const MetricImpl &impl = *metric.impl();
  requireKind(impl);
  if (!impl.formula)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' is a mean of values: it takes no targets and predictions", impl.name));
  Value weight = sampleWeight, mask = maskOf(yPred);
  if (weight.defined() && mask.defined()) { // as in Keras, a mask counts only beside weights
    weight = asDtype(weight, impl.dtype, "metric");
    mask = asDtype(mask, impl.dtype, "metric");
    matchWeight(mask, weight);
    weight = mask * weight;
  }
  addValues(impl, impl.formula(yTrue, yPred), weight);
}

double metricResult(const Metric &metric) {
  const MetricImpl &impl = *metric.impl();
  if (impl.needsShapes)
    return 0.0;
  return metricResult(metric, hostScalar(impl.total), hostScalar(impl.count));
}
double metricResult(const Metric &metric, double total, double count) {
  const MetricImpl &impl = *metric.impl();
  if (count == 0.0)
    return 0.0;
  double mean = total / count;
  return roundTo(impl.dtype, impl.finish ? impl.finish(mean) : mean);
}

void resetMetric(const Metric &metric) {
  for (const Variable &state : metricVariables(metric))
    setHostScalar(state, 0.0);
}

Metric resolveMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred) {
  const MetricImpl &impl = *metric.impl();
  return impl.choose ? Metric(impl.choose(yTrue, yPred)) : metric;
}

std::vector<Variable> metricVariables(const Metric &metric) {
  const MetricImpl &impl = *metric.impl();
  return impl.needsShapes ? std::vector<Variable>{} : std::vector<Variable>{impl.total, impl.count};
}

static Value asItIs(const Value &x) { return x; }

MeanTracker::MeanTracker(std::string name) : mean_(makeMetric(name, floatxDtype(), {})) {}
std::string MeanTracker::name() const { return mean_.name(); }
void MeanTracker::update(const Value &value, int64_t ownRows) const {
  Value number = asDtype(meanOverProcesses(value), mean_.dtype(), "metric");
  addValues(*mean_.impl(), number, rowsOfAll(ownRows, number), asItIs);
}
double MeanTracker::result() const { return metricResult(mean_); }
void MeanTracker::reset() const { resetMetric(mean_); }

} // namespace detail

Metric::Metric(const Metric &) = default;
Metric::Metric(Metric &&other) noexcept : impl_(other.impl_) {} // copies, so that a moved-from metric stays whole
Metric &Metric::operator=(const Metric &) & = default;
Metric &Metric::operator=(Metric &&other) & noexcept { return *this = static_cast<const Metric &>(other); }
Metric::~Metric() = default;
Metric::Metric(std::shared_ptr<MetricImpl> impl) : impl_(std::move(impl)) {}
Metric::Metric(const char *name) : Metric(std::string(name)) {}
Metric::Metric(const std::string &name) : impl_(metricNamed(name)) {}
Metric::Metric(std::function<Value(const Value &, const Value &)> f, const MetricArgs &args) {
  if (!f)
    throw Error(ErrorKind::value_error, "a Metric was made from an empty function");
  std::string name = args.name.empty() ? "metric" : args.name;
  DType dtype = dtypeOfArgument(args.dtype, name);
  impl_ = makeMetric(name, dtype, f);
  impl_->choose = [name, dtype, f](const Shape &, const Shape &) { return makeMetric(name, dtype, f); };
}
std::string Metric::name() const { return impl_->name; }
DType Metric::dtype() const { return impl_->dtype; }
void Metric::update_state(const Tensor &yTrue, const Tensor &yPred, const Tensor &sampleWeight) const {
  std::vector<Tensor> feeds{yTrue, yPred};
  if (sampleWeight.defined())
    feeds.push_back(sampleWeight);
  if (!impl_->formula && !impl_->needsShapes)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' is a mean of values: it takes no targets and predictions", impl_->name));
  updateOnData(impl_, feeds, sampleWeight.defined());
}
double Metric::result() const { return metricResult(*this); }
void Metric::reset_state() const { resetMetric(*this); }
std::vector<Variable> Metric::variables() const { return metricVariables(*this); }
Config Metric::get_config() const {
  Config config;
  config.set("name", impl_->name);
  config.set("dtype", halftone::name(impl_->dtype));
  nlohmann::ordered_json all = ConfigAccess::json(config);
  all.update(ConfigAccess::json(impl_->ownConfig));
  return ConfigAccess::make(std::move(all));
}

namespace metrics {

Mean::Mean(const MetricArgs &args)
    : Metric(makeMetric(args.name.empty() ? "mean" : args.name, dtypeOfArgument(args.dtype, "mean"), {})) {
  impl()->kind = "mean";
}
void Mean::update_state(const Tensor &values, const Tensor &sampleWeight) const {
  bool weighted = sampleWeight.defined();
  updateOnData(impl(), weighted ? std::vector<Tensor>{values, sampleWeight} : std::vector<Tensor>{values}, weighted);
}
MeanSquaredError::MeanSquaredError(const MetricArgs &args) : Metric(metricOf(args.name, "mse", args.dtype)) {}
MeanAbsoluteError::MeanAbsoluteError(const MetricArgs &args) : Metric(metricOf(args.name, "mae", args.dtype)) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(const MetricArgs &args)
    : Metric(metricOf(args.name, "mape", args.dtype)) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(const MetricArgs &args)
    : Metric(metricOf(args.name, "msle", args.dtype)) {}
Poisson::Poisson(const MetricArgs &args) : Metric(metricOf(args.name, "poisson", args.dtype)) {}
Hinge::Hinge(const MetricArgs &args) : Metric(metricOf(args.name, "hinge", args.dtype)) {}
SquaredHinge::SquaredHinge(const MetricArgs &args) : Metric(metricOf(args.name, "squared_hinge", args.dtype)) {}
CategoricalHinge::CategoricalHinge(const MetricArgs &args)
    : Metric(metricOf(args.name, "categorical_hinge", args.dtype)) {}
KLDivergence::KLDivergence(const MetricArgs &args) : Metric(metricOf(args.name, "kld", args.dtype)) {}
LogCoshError::LogCoshError(const MetricArgs &args)
    : Metric(metricOf(args.name.empty() ? std::string("logcosh") : args.name, "log_cosh", args.dtype)) {}
CosineSimilarity::CosineSimilarity(const CosineSimilarityArgs &args)
    : Metric([&] {
        std::string name = args.name.empty() ? "cosine_similarity" : args.name;
        return makeMetric(name, dtypeOfArgument(args.dtype, name), cosineOf(args.axis));
      }()) {
  impl()->kind = "cosine_similarity";
  impl()->ownConfig.set("axis", args.axis);
}
RootMeanSquaredError::RootMeanSquaredError(const MetricArgs &args)
    : Metric([&] {
        std::string name = args.name.empty() ? "root_mean_squared_error" : args.name;
        std::shared_ptr<MetricImpl> impl = makeMetric(name, dtypeOfArgument(args.dtype, name), squaredErrors);
        impl->kind = "root_mean_squared_error";
        impl->finish = std::sqrt;
        return impl;
      }()) {}
BinaryCrossentropy::BinaryCrossentropy(const BinaryCrossentropyArgs &args)
    : Metric(metricOf(
          args.name,
          losses::BinaryCrossentropy({.from_logits = args.from_logits, .label_smoothing = args.label_smoothing}),
          args.dtype)) {
  impl()->ownConfig.set("from_logits", args.from_logits);
  impl()->ownConfig.set("label_smoothing", args.label_smoothing);
}
CategoricalCrossentropy::CategoricalCrossentropy(const CategoricalCrossentropyArgs &args)
    : Metric(
          metricOf(args.name,
                   losses::CategoricalCrossentropy(
                       {.from_logits = args.from_logits, .label_smoothing = args.label_smoothing, .axis = args.axis}),
                   args.dtype)) {
  impl()->ownConfig.set("from_logits", args.from_logits);
  impl()->ownConfig.set("label_smoothing", args.label_smoothing);
  impl()->ownConfig.set("axis", args.axis);
}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyArgs &args)
    : Metric(metricOf(args.name,
                      losses::SparseCategoricalCrossentropy({.from_logits = args.from_logits, .axis = args.axis}),
                      args.dtype)) {
  impl()->ownConfig.set("from_logits", args.from_logits);
  impl()->ownConfig.set("axis", args.axis);
}

} // namespace metrics
} // namespace halftone
