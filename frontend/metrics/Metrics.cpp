// The Metric handle: state, updates, names.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Metrics.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/metrics/MetricImpl.h"
#include "frontend/ops/Masks.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Convert.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Half.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

/// value_error unless the metric takes targets and predictions, if `targets`, or values alone.
void requireRule(const MetricImpl &metric, bool targets) {
  if (!metric.rule)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' has no kind before `compile()` has seen a target and an output: use "
                            "BinaryAccuracy, CategoricalAccuracy or SparseCategoricalAccuracy",
                            metric.name));
  if (metric.rule->takesTargets() != targets)
    throw Error(ErrorKind::value_error, fmt::format("metric '{}' {}", metric.name,
                                                    targets ? "is a mean of values: it takes no targets and predictions"
                                                            : "takes targets and predictions, no values alone"));
}

void makeState(MetricImpl &metric, const Shape &yTrue, const Shape &yPred) {
  std::vector<Variable> made;
  for (const auto &[part, shape] : metric.rule->state(yTrue, yPred)) {
    checkMemoryFor(fmt::format("the state of metric '{}'", metric.name), shape, metric.dtype);
    made.push_back(makeZeros(shape, metric.dtype,
                             {.name = part,
                              .path = fmt::format("{}/{}", metric.name, part),
                              .role = VariableRole::metric,
                              .update = UpdateKind::assign,
                              .trainable = false,
                              .autocast = false}));
  }
  metric.state = std::move(made);
}

/// The function owns the metric: its formula is users' code, which may destroy the caller's handle. Feeds: targets and
/// predictions, or values, then perhaps weights.
void updateOnData(std::shared_ptr<MetricImpl> metric, const std::vector<Tensor> &feeds, bool weighted) {
  CompiledFunction *function = nullptr;
  {
    const ForkSafeLock lock(metric->mutex);
    if (!metric->onData)
      metric->onData = std::make_unique<CompiledFunction>(
          FunctionOptions{.name = metric->name}, std::vector<std::string>{},
          [impl = metric.get()](Trace &, const std::vector<Value> &v, const FeedLayout &layout) {
            const bool targets = impl->rule->takesTargets(), hasWeight = layout.groups.at(1) > 0;
            impl->rule->update(impl->state, targets ? v[0] : Value(), v[targets ? 1 : 0],
                               hasWeight ? v.back() : Value());
            return std::vector<CompiledFunction::Named>{};
          });
    function = metric->onData.get();
  }
  function->run(feeds, {{std::ssize(feeds) - weighted, weighted}}); // values, weights
}

} // namespace

namespace detail {

std::shared_ptr<MetricImpl> makeMetric(const std::string &name, DType dtype, std::shared_ptr<const MetricRule> rule) {
  requireNameInUtf8("The name of a metric", name);
  auto impl = std::make_shared<MetricImpl>();
  impl->name = name;
  impl->dtype = dtype;
  impl->rule = std::move(rule);
  if (!impl->rule->needsShapes())
    makeState(*impl, {}, {});
  return impl;
}

void buildMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred) {
  MetricImpl &impl = *metric.impl();
  const ForkSafeLock lock(impl.mutex);
  if (impl.rule && impl.state.empty())
    makeState(impl, yTrue, yPred);
}

void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight) {
  const MetricImpl &impl = *metric.impl();
  requireRule(impl, true);
  Value weight = sampleWeight, mask = maskOf(yPred);
  if (weight.defined() && mask.defined()) { // as in Keras, a mask counts only beside weights
    const DType dtype = is_float(impl.dtype) ? impl.dtype : floatxDtype();
    weight = asDtype(weight, dtype, "metric");
    mask = asDtype(mask, dtype, "metric");
    matchWeight(mask, weight);
    weight = mask * weight;
  }
  impl.rule->update(impl.state, yTrue, yPred, weight);
}

static std::vector<VariableHandle> memoryOf(const Metric &metric) {
  std::vector<VariableHandle> memory;
  for (const Variable &variable : metric.variables())
    memory.push_back(variable.impl()->memory);
  return memory;
}

std::vector<double> metricResults(const Metric &metric) {
  std::vector<std::vector<double>> state;
  for (const Tensor &value : readTogether(memoryOf(metric)).valueOrThrow()) // totals and counts of one moment
    state.push_back(value.astype(DType::float64).to_vector<double>());
  return metricResults(metric, state);
}
std::vector<double> metricResults(const Metric &metric, const std::vector<std::vector<double>> &state) {
  const MetricImpl &impl = *metric.impl();
  if (!impl.rule || state.empty())
    return {0.0};
  const FloatMode mode;
  std::vector<double> results = impl.rule->results(state);
  for (double &result : results)
    result = roundTo(is_float(impl.dtype) ? impl.dtype : DType::float32, result);
  return results;
}

void resetMetric(const Metric &metric) {
  std::vector<Tensor> zeros;
  for (const Variable &variable : metric.variables())
    zeros.push_back(Tensor::zeros(variable.impl()->shape, variable.impl()->dtype));
  writeTogether(memoryOf(metric), zeros).orThrow();
}

/// The same metric with a fresh state, if that needs no shapes.
static Metric copyOf(const MetricImpl &impl) {
  std::shared_ptr<MetricImpl> copy = makeMetric(impl.name, impl.dtype, impl.rule);
  copy->identifier = impl.identifier;
  copy->className = impl.className;
  copy->ownConfig = impl.ownConfig;
  return Metric(std::move(copy));
}

Metric ownMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred, const std::shared_ptr<const void> &use) {
  MetricImpl &impl = *metric.impl();
  Metric own = metric;
  if (impl.choose) {
    own = Metric(impl.choose(yTrue, yPred));
  } else {
    const ForkSafeLock lock(impl.mutex);
    if (impl.user.expired())
      impl.user = use;
    else
      own = copyOf(impl);
  }
  buildMetric(own, yTrue, yPred);
  return own;
}

MeanTracker::MeanTracker(std::string name) : mean_(makeMetric(name, floatxDtype(), meanOf({}))) {}
std::string MeanTracker::name() const { return mean_.name(); }
void MeanTracker::update(const Value &value, int64_t ownRows) const {
  const Value mean = asDtype(meanOverProcesses(value), mean_.dtype(), "metric"), rows = rowsOfAll(ownRows, mean);
  const auto add = [](const Variable &state, const Value &added) {
    state.assign(tracing().read(state.impl(), state.impl()->dtype) + added);
  };
  add(mean_.impl()->state[0], mean * rows);
  add(mean_.impl()->state[1], rows);
}

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
  impl_ = makeMetric(name, dtype, meanOf(f));
  impl_->choose = [name, dtype, f](const Shape &, const Shape &) { return makeMetric(name, dtype, meanOf(f)); };
}
std::string Metric::name() const { return impl_->name; }
DType Metric::dtype() const { return impl_->dtype; }
void Metric::update_state(const Tensor &yTrue, const Tensor &yPred, const Tensor &sampleWeight) const {
  requireRule(*impl_, true);
  std::vector<Tensor> feeds{yTrue, yPred};
  if (sampleWeight.defined())
    feeds.push_back(sampleWeight);
  if (yTrue.defined() && yPred.defined())
    buildMetric(*this, yTrue.shape(), yPred.shape());
  updateOnData(impl_, feeds, sampleWeight.defined());
}
double Metric::result() const {
  const std::vector<double> all = results();
  if (all.size() != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("the result of metric '{}' is {} numbers: use results()", impl_->name, all.size()));
  return all.front();
}
std::vector<double> Metric::results() const { return metricResults(*this); }
void Metric::reset_state() const { resetMetric(*this); }
std::vector<Variable> Metric::variables() const { return impl_->state; }
Config Metric::get_config() const {
  Config config;
  config.set("name", impl_->name);
  config.set("dtype", halftone::name(impl_->dtype));
  nlohmann::ordered_json all = ConfigAccess::json(config);
  all.update(ConfigAccess::json(impl_->ownConfig));
  return ConfigAccess::make(std::move(all));
}

/// Updates a metric of values.
static void updateOnValues(const Metric &metric, const Tensor &values, const Tensor &sampleWeight) {
  requireRule(*metric.impl(), false);
  const bool weighted = sampleWeight.defined();
  updateOnData(metric.impl(), weighted ? std::vector<Tensor>{values, sampleWeight} : std::vector<Tensor>{values},
               weighted);
}
void metrics::Mean::update_state(const Tensor &values, const Tensor &sampleWeight) const {
  updateOnValues(*this, values, sampleWeight);
}
void metrics::Sum::update_state(const Tensor &values, const Tensor &sampleWeight) const {
  updateOnValues(*this, values, sampleWeight);
}

} // namespace halftone
