// The Metric handle: state, updates, names.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Metrics.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/MetricCode.h"
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

/// value_error unless the metric takes targets and predictions, if `targets`, or only values otherwise.
void requireRule(const MetricImpl &metric, bool targets) {
  if (!metric.rule)
    throw Error(ErrorKind::value_error,
                fmt::format("metric '{}' has no kind until `compile()` has seen a target and an output: use "
                            "BinaryAccuracy, CategoricalAccuracy or SparseCategoricalAccuracy",
                            metric.name));
  if (metric.rule->takesTargets() != targets)
    throw Error(ErrorKind::value_error, fmt::format("metric '{}' {}", metric.name,
                                                    targets ? "is a mean of values: it takes no targets and predictions"
                                                            : "takes targets and predictions, not values"));
}

void makeState(MetricImpl &metric, const Shape &yTrue, const Shape &yPred) {
  MetricContext::Rep made{metric};
  MetricContext context(made);
  metric.rule->build(context, yTrue, yPred);
  metric.state = std::move(made.state);
  metric.initial = std::move(made.initial);
}

/// Records an update by library or user code. value_error for a weight that the user's update does not take.
void recordUpdate(const MetricImpl &metric, const Value &yTrue, const Value &yPred, const Value &weight) {
  if (weight.defined() && !metric.rule->takesWeight())
    throw Error(
        ErrorKind::value_error,
        fmt::format("metric '{}' was given a sample_weight, and its update_state(y_true, y_pred) takes none: add "
                    "a parameter `const Value &sample_weight`, or list it in `metrics`, not in "
                    "`weighted_metrics`",
                    metric.name));
  const MetricCode code(metric.rule->isUsers() ? MetricCode::Part::update : MetricCode::Part::library, metric.name);
  metric.rule->update(metric.state, yTrue, yPred, weight);
}

/// Updates a metric from data. `metric` is owned here, since its formula may be user code that destroys the caller's
/// handle. `feeds` holds targets and predictions, or values, then optional weights.
void updateOnData(std::shared_ptr<MetricImpl> metric, const std::vector<Tensor> &feeds, bool weighted) {
  CompiledFunction *function = nullptr;
  {
    const ForkSafeLock lock(metric->mutex);
    if (!metric->onData)
      metric->onData = std::make_unique<CompiledFunction>(
          FunctionOptions{.name = metric->name}, std::vector<std::string>{},
          [impl = metric.get()](Trace &, const std::vector<Value> &v, const FeedLayout &layout) {
            const bool targets = impl->rule->takesTargets(), hasWeight = layout.groups.at(1) > 0;
            recordUpdate(*impl, targets ? v[0] : Value(), v[targets ? 1 : 0], hasWeight ? v.back() : Value());
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

void MetricRule::build(MetricContext &context, const Shape &yTrue, const Shape &yPred) const {
  for (const auto &[part, shape] : state(yTrue, yPred))
    context.add_variable({.shape = shape, .name = part});
}

std::vector<double> MetricRule::resultsOf(const MetricImpl &metric, const std::vector<Tensor> &state) const {
  std::vector<std::vector<double>> elements;
  for (const Tensor &value : state)
    elements.push_back(value.astype(DType::float64).to_vector<double>());
  std::vector<double> found = results(elements);
  for (double &result : found)
    result = roundTo(is_float(metric.dtype) ? metric.dtype : DType::float32, result);
  return found;
}

void buildMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred) {
  MetricImpl &impl = *metric.impl();
  const ForkSafeLock lock(impl.mutex);
  if (impl.rule && impl.rule->needsShapes() && impl.state.empty())
    makeState(impl, yTrue, yPred);
  else
    return;
  CallTransaction::onFailure([metric] { // after a failure of the enclosing call, other shapes may follow
    const ForkSafeLock undoing(metric.impl()->mutex);
    metric.impl()->state.clear();
    metric.impl()->initial.clear();
  });
}

void updateMetric(const Metric &metric, const Value &yTrue, const Value &yPred, const Value &sampleWeight) {
  const MetricImpl &impl = *metric.impl();
  requireRule(impl, true);
  Value weight = sampleWeight, mask = maskOf(yPred);
  if (weight.defined() && mask.defined()) { // as in Keras, a mask applies only with weights
    const DType dtype = is_float(impl.dtype) ? impl.dtype : floatxDtype();
    weight = asDtype(weight, dtype, "metric");
    mask = asDtype(mask, dtype, "metric");
    matchWeight(mask, weight);
    weight = mask * weight;
  }
  recordUpdate(impl, yTrue, yPred, weight);
}

static std::vector<VariableHandle> memoryOf(const Metric &metric) {
  std::vector<VariableHandle> memory;
  for (const Variable &variable : metric.variables())
    memory.push_back(variable.impl()->memory);
  return memory;
}

std::vector<double> metricResults(const Metric &metric) {
  return metricResults(metric, readTogether(memoryOf(metric)).valueOrThrow()); // a consistent snapshot
}
std::vector<double> metricResults(const Metric &metric, const std::vector<Tensor> &state) {
  const MetricImpl &impl = *metric.impl();
  if (!impl.rule || (state.empty() && impl.rule->needsShapes()))
    return {0.0};
  const FloatMode mode;
  return impl.rule->resultsOf(impl, state);
}

Tensor initialValue(const MetricImpl &metric, size_t i) {
  const VariableImpl &variable = *metric.state[i].impl();
  return metric.initial[i].defined() ? metric.initial[i] : Tensor::zeros(variable.shape, variable.dtype);
}

void resetMetric(const Metric &metric) {
  std::vector<Tensor> values;
  for (size_t i = 0; i < metric.impl()->state.size(); ++i)
    values.push_back(initialValue(*metric.impl(), i));
  writeTogether(memoryOf(metric), values).orThrow();
}

/// A copy of the metric with fresh state, if that needs no shapes.
static Metric copyOf(const MetricImpl &impl) {
  std::shared_ptr<MetricImpl> copy = makeMetric(impl.name, impl.dtype, impl.rule->another());
  copy->identifier = impl.identifier;
  copy->className = impl.className;
  copy->registeredName = impl.registeredName;
  copy->ownConfig = impl.ownConfig;
  return Metric(std::move(copy));
}

Metric ownMetric(const Metric &metric, const Shape &yTrue, const Shape &yPred, const std::shared_ptr<const void> &use) {
  MetricImpl &impl = *metric.impl();
  Metric own = metric;
  if (impl.choose) {
    own = Metric(impl.choose(yTrue, yPred));
  } else {
    const bool isFree = [&] {
      const ForkSafeLock lock(impl.mutex);
      const bool isUnused = impl.user.expired();
      if (isUnused)
        impl.user = use;
      return isUnused;
    }();
    if (!isFree)
      own = copyOf(impl); // without the lock: calls a user's build()
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
Metric::Metric(Metric &&other) noexcept : impl_(other.impl_) {} // copies: a moved-from metric stays valid
Metric &Metric::operator=(const Metric &) & = default;
Metric &Metric::operator=(Metric &&other) & noexcept { return *this = static_cast<const Metric &>(other); }
Metric::~Metric() = default;
Metric::Metric(std::shared_ptr<MetricImpl> impl) : impl_(std::move(impl)) {}
Metric::Metric(const char *name) : Metric(std::string(name)) {}
Metric::Metric(const std::string &name) : impl_(metricNamed(name)) {}
Metric::Metric(std::function<Value(const Value &, const Value &)> f, const MetricArgs &args) {
  if (!f)
    throw Error(ErrorKind::value_error, "a Metric was created from an empty function");
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
  CallTransaction transaction(CallTransaction::Extent::program);
  if (yTrue.defined() && yPred.defined())
    buildMetric(*this, yTrue.shape(), yPred.shape());
  updateOnData(impl_, feeds, sampleWeight.defined());
  transaction.commit();
}
/// runtime_error outside of a trace, value_error for an undefined Value.
static void requireRecords(const MetricImpl &metric, std::initializer_list<Value> values) {
  if (!Trace::current())
    throw Error(ErrorKind::runtime_error,
                fmt::format("metric '{}' got Values outside of a function being traced: update_state() takes Tensors "
                            "there",
                            metric.name));
  for (const Value &value : values)
    if (!value.defined())
      throw Error(ErrorKind::value_error, fmt::format("metric '{}' was given an undefined Value", metric.name));
}
void Metric::update_state(const Value &yTrue, const Value &yPred, const Value &sampleWeight) const {
  requireRule(*impl_, true);
  requireRecords(*impl_, {yTrue, yPred});
  buildMetric(*this, yTrue.shape(), yPred.shape());
  updateMetric(*this, yTrue, yPred, sampleWeight);
}
double Metric::result() const {
  const std::vector<double> all = results();
  if (all.size() != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("the result of metric '{}' has {} numbers: use results()", impl_->name, all.size()));
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

/// Updates a metric over values.
static void updateOnValues(const Metric &metric, const Tensor &values, const Tensor &sampleWeight) {
  requireRule(*metric.impl(), false);
  const bool weighted = sampleWeight.defined();
  updateOnData(metric.impl(), weighted ? std::vector<Tensor>{values, sampleWeight} : std::vector<Tensor>{values},
               weighted);
}
/// Records the update of a metric over values.
static void recordValues(const Metric &metric, const Value &values, const Value &sampleWeight) {
  requireRule(*metric.impl(), false);
  requireRecords(*metric.impl(), {values});
  recordUpdate(*metric.impl(), {}, values, sampleWeight);
}
void metrics::Mean::update_state(const Tensor &values, const Tensor &sampleWeight) const {
  updateOnValues(*this, values, sampleWeight);
}
void metrics::Sum::update_state(const Tensor &values, const Tensor &sampleWeight) const {
  updateOnValues(*this, values, sampleWeight);
}
void metrics::Mean::update_state(const Value &values, const Value &sampleWeight) const {
  recordValues(*this, values, sampleWeight);
}
void metrics::Sum::update_state(const Value &values, const Value &sampleWeight) const {
  recordValues(*this, values, sampleWeight);
}

} // namespace halftone
