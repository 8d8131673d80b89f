// compile(), and the programs that train, test and predict.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Trainer.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ModelState.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/ForkGate.h"
#include "runtime/policy/LegacyPolicy.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace halftone {
using namespace detail;

namespace {

using Named = CompiledFunction::Named;

Optimizer chooseOptimizer(const Layer &model, const CompileArgs &args) {
  if (!args.auto_scale_loss || isLossScaleOptimizer(args.optimizer) || !scalesLoss(model.dtype_policy()))
    return args.optimizer;
  const auto legacy = legacyLossScale(model.dtype_policy());
  if (!legacy)
    return optimizers::LossScaleOptimizer(args.optimizer, {});
  const Config scale = (*legacy)->get_config();
  if ((*legacy)->class_name() == "FixedLossScale") {
    const double fixed = scale.get_double("loss_scale_value");
    return optimizers::LossScaleOptimizer(args.optimizer,
                                          {.initial_scale = fixed, .min_scale = fixed, .max_scale = fixed});
  }
  if (scale.get_double("multiplier") != 2.0)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("A loss scale grows and shrinks by 2; received {}", (*legacy)->repr()), model.name());
  return optimizers::LossScaleOptimizer(args.optimizer, {.initial_scale = scale.get_double("initial_loss_scale"),
                                                         .dynamic_growth_steps = scale.get_int("increment_period")});
}

struct Feeds {
  std::vector<Value> x, y, weights;
};
/// Splits the feeds, and tells the trace whether processes share the batch.
Feeds split(const std::vector<Value> &feeds, const FeedLayout &layout) {
  std::vector<std::vector<Value>> parts = layout.split(feeds);
  if (const std::vector<Value> &counts = parts.at(3); !counts.empty())
    tracing().sharedBatch = SharedBatch{distribution::rank(), distribution::size(), counts.at(0), counts.at(1)};
  return {std::move(parts.at(0)), std::move(parts.at(1)), std::move(parts.at(2))};
}

Value weightOf(const Feeds &feeds, size_t output) {
  if (feeds.weights.empty())
    return {};
  return feeds.weights[feeds.weights.size() == 1 ? 0 : output];
}

/// The loss of one batch as Keras's Trainer.compute_loss gives it; updates the metrics too. Of a shared batch it is the
/// part of this process, whose meanOverProcesses() is the loss.
Value computeLoss(const Layer &model, CompiledModel &compiled, const Feeds &feeds,
                  const std::vector<Value> &predictions) {
  DType floatx = floatxDtype();
  const int64_t batch = feeds.x.at(0).shape()[0];
  Value total;
  auto addTo = [&](const Value &value) { total = total.defined() ? total + value : value; };
  for (size_t i = 0; i < compiled.losses.size(); ++i) {
    if (!compiled.losses[i].defined())
      continue;
    Value value =
        asDtype(lossPart(compiled.losses[i], feeds.y.at(i), predictions.at(i), weightOf(feeds, i)), floatx, "loss");
    if (value.rank() != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("the loss '{}' gives shape {}: `compile()` needs one that reduces to a scalar",
                              compiled.losses[i].name(), value.shape().str()),
                  model.name());
    if (!compiled.outputTrackers.empty())
      compiled.outputTrackers[i].update(value, batch);
    if (!compiled.args.loss_weights.empty())
      value = value * compiled.args.loss_weights[i];
    addTo(value);
  }
  auto addPenalty = [&](const Value &penalty) { // Keras's _aggregate_additional_loss
    Value value = is_float(penalty.dtype()) ? penalty : asDtype(penalty, floatx);
    addTo(value.rank() == 0 ? value : ops::sum(value));
  };
  for (const Value &penalty : tracing().losses) // of the activations of this process's rows
    addPenalty(partOfMean(penalty));
  for (const Value &penalty : weightRegularizers(model.trainable_variables()))
    addPenalty(penalty);
  if (!total.defined())
    throw Error(ErrorKind::value_error, "No loss to compute. Provide a `loss` argument in `compile()`.", model.name());
  compiled.lossTracker.update(total, batch);
  for (const OutputMetric &metric : compiled.metrics)
    updateMetric(metric.metric, feeds.y.at(metric.output), predictions.at(metric.output),
                 metric.weighted ? weightOf(feeds, metric.output) : Value());
  return total;
}

FunctionOptions optionsOf(const Layer &model, const CompileArgs *args, const char *program) {
  FunctionOptions options{.name = fmt::format("{}.{}", model.name(), program)};
  if (args) {
    options.device = args->device;
    options.strict = args->numerics == Numerics::strict;
    options.interpret = args->run_eagerly;
    if (std::string_view(program) == "train")
      options.maxStandaloneCasts = args->max_standalone_casts;
  }
  return options;
}

/// A handle of the model that a program calls. The program has only the model's address, since a handle would keep the
/// model alive for ever. The caller of a program has a handle.
Layer handle(LayerImpl *layer) { return Layer(layer->shared_from_this()); }

/// Records the loss of the fed batch.
Value lossOfBatch(LayerImpl *layer, CompiledModel &compiled, const std::vector<Value> &values,
                  const FeedLayout &layout) {
  Feeds feeds = split(values, layout);
  std::vector<Value> predictions = layer->callTraced(feeds.x);
  if (predictions.size() != compiled.losses.size())
    throw Error(ErrorKind::value_error,
                fmt::format("the model gives {} outputs and was compiled when it gave {}: call `compile()` again",
                            predictions.size(), compiled.losses.size()),
                layer->name);
  return computeLoss(handle(layer), compiled, feeds, predictions);
}
CompiledFunction::Body trainBody(LayerImpl *layer, CompiledModel *compiled) {
  return [=](Trace &, const std::vector<Value> &values, const FeedLayout &layout) -> std::vector<Named> {
    TrainingScope training(true);
    Value loss = lossOfBatch(layer, *compiled, values, layout);
    minimizeTogether(compiled->optimizer, loss, handle(layer).trainable_variables());
    std::vector<Named> fetches{{"loss", meanOverProcesses(loss)}};
    fetchMetrics(*compiled->logged, fetches);
    if (isLossScaleOptimizer(compiled->optimizer))
      fetches.push_back({"skipped_steps", skippedWord(asLossScaleOptimizer(compiled->optimizer))});
    return fetches;
  };
}
CompiledFunction::Body testBody(LayerImpl *layer, CompiledModel *compiled) {
  return [=](Trace &, const std::vector<Value> &values, const FeedLayout &layout) -> std::vector<Named> {
    TrainingScope training(false);
    std::vector<Named> fetches{{"loss", meanOverProcesses(lossOfBatch(layer, *compiled, values, layout))}};
    fetchMetrics(*compiled->logged, fetches);
    return fetches;
  };
}
CompiledFunction::Body predictBody(LayerImpl *layer, ModelState *state) {
  return [=](Trace &, const std::vector<Value> &values, const FeedLayout &) -> std::vector<Named> {
    TrainingScope training(false);
    std::vector<Named> fetches;
    for (const Value &output : layer->callTraced(values))
      fetches.push_back({fetches.size() < state->outputNames.size() ? state->outputNames[fetches.size()]
                                                                    : fmt::format("output_{}", fetches.size()),
                         output});
    return fetches;
  };
}

} // namespace

namespace detail {

CompiledModel::CompiledModel(const Layer &model, const CompileArgs &compileArgs)
    : args(compileArgs), optimizer(chooseOptimizer(model, compileArgs)),
      train(optionsOf(model, &args, "train"), {}, trainBody(model.impl().get(), this)),
      test(optionsOf(model, &args, "test"), {}, testBody(model.impl().get(), this)) {}

std::shared_ptr<CompiledModel> compiledIfAny(const Layer &model) {
  ModelState &state = stateOf(model);
  const ForkSafeLock lock(state.mutex);
  return state.compiled;
}
std::shared_ptr<CompiledModel> compiledOf(const Layer &model, const char *before) {
  std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  if (!compiled)
    throw Error(ErrorKind::value_error, fmt::format("You must call `compile()` before {}.", before), model.name());
  return compiled;
}

FeedLayout batchLayout(size_t inputs, size_t targets, size_t weights, bool isShared) {
  return {
      {static_cast<int64_t>(inputs), static_cast<int64_t>(targets), static_cast<int64_t>(weights), isShared ? 2 : 0}};
}

std::shared_ptr<CompiledFunction> predictFunction(const Layer &model) {
  ModelState &state = stateOf(model);
  const ForkSafeLock lock(state.mutex);
  if (!state.predict)
    state.predict = std::make_shared<CompiledFunction>(
        optionsOf(model, state.compiled ? &state.compiled->args : nullptr, "predict"), std::vector<std::string>{},
        predictBody(model.impl().get(), &state));
  return state.predict;
}

std::vector<Tensor> orderedInputs(const Layer &model, const Tensors &x) {
  ModelState &state = stateOf(model);
  if (x.names().empty() || state.inputs.empty())
    return {x.begin(), x.end()};
  std::vector<Tensor> ordered;
  for (const Value &input : state.inputs)
    ordered.push_back(x[input.node()->name]);
  return ordered;
}

/// The metrics by name. If a metric and the loss of an output have one name, the loss counts.
static std::shared_ptr<const LoggedMetrics> loggedMetrics(const CompiledModel &compiled) {
  std::map<std::string, Metric> byName;
  byName.emplace("loss", compiled.lossTracker.metric());
  for (const OutputMetric &metric : compiled.metrics)
    byName.insert_or_assign(metric.name, metric.metric);
  for (const MeanTracker &tracker : compiled.outputTrackers)
    byName.insert_or_assign(tracker.name(), tracker.metric());
  auto logged = std::make_shared<LoggedMetrics>();
  for (const auto &[name, metric] : byName)
    logged->push_back({name, metric});
  return logged;
}

/// Moves all variables that the compiled model updates to the device of its programs.
static void moveToDevice(const Layer &model, const CompiledModel &compiled) {
  const std::shared_ptr<DeviceRuntime> device = runtimeOf(*compiled.args.device);
  moveVariables(model.variables(), device);
  moveVariables(compiled.optimizer.impl()->allVariables(), device);
}

/// The index of the model's output of this name. value_error that lists the outputs if there is none. `argument` is
/// that of compile().
static size_t outputNamed(const Layer &model, const std::vector<std::string> &outputs, const std::string &name,
                          const char *argument) {
  for (size_t i = 0; i < outputs.size(); ++i) // a file whose outputs share a name has their places
    if (name == fmt::format("[{}]", i))
      return i;
  auto found = std::find(outputs.begin(), outputs.end(), name);
  if (found == outputs.end())
    throw Error(
        ErrorKind::value_error,
        fmt::format("`{}` names the output '{}'; the outputs are [{}]", argument, name, fmt::join(outputs, ", ")),
        model.name());
  return static_cast<size_t>(found - outputs.begin());
}

/// The loss of each output; undefined for an output that `spec` leaves out.
static std::vector<Loss> lossesOf(const Layer &model, const LossSpec &spec, const std::vector<std::string> &outputs) {
  std::vector<Loss> losses(outputs.size());
  if (!spec.names().empty())
    for (size_t i = 0; i < spec.names().size(); ++i)
      losses[outputNamed(model, outputs, spec.names()[i], "loss")] = spec.losses()[i];
  else if (spec.losses().size() == 1)
    std::fill(losses.begin(), losses.end(), spec.losses()[0]);
  else if (spec.losses().size() == outputs.size())
    losses = spec.losses();
  else if (!spec.losses().empty())
    throw Error(ErrorKind::value_error,
                fmt::format("`loss` has {} entries for {} outputs", spec.losses().size(), outputs.size()),
                model.name());
  return losses;
}

/// Keras's name of a metric in the logs. If other metrics have the name, a weighted one begins with "weighted_"; then
/// "_1" and so on follow. `taken` counts the metrics of each name.
static std::string nameInLogs(std::map<std::string, int64_t> &taken, const std::string &prefix,
                              const std::string &metric, bool weighted) {
  const bool again = weighted && taken.contains(prefix + metric);
  const std::string name = prefix + (again ? "weighted_" : "") + metric;
  const int64_t before = taken[name]++;
  return before == 0 ? name : fmt::format("{}_{}", name, before);
}

void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Tensor> &x,
                     const std::vector<Tensor> &y) {
  if (compiled.ready)
    return;
  const DeviceScope device(*compiled.args.device); // for the layers that are built and the metrics that are made here
  ModelState &state = stateOf(model);
  // The shapes of the outputs, by tracing the model. An error leaves the compiled model unchanged.
  std::vector<ValueSpec> inputs;
  for (const Tensor &tensor : x)
    inputs.push_back({tensor.shape(), tensor.dtype()});
  std::vector<ValueSpec> outputs =
      inferSpecs(inputs, [&](const std::vector<Value> &values) { return model.impl()->callTraced(values); });
  if (compiled.ready) // a layer's own code has trained the model
    return;
  size_t count = outputs.size();
  if (state.outputNames.size() != count) {
    state.outputNames.clear();
    for (size_t i = 0; i < count; ++i)
      state.outputNames.push_back(fmt::format("output_{}", i));
  }
  std::vector<Loss> losses = lossesOf(model, compiled.args.loss, state.outputNames);
  if (!compiled.args.loss_weights.empty() && compiled.args.loss_weights.size() != count)
    throw Error(ErrorKind::value_error,
                fmt::format("`loss_weights` has {} entries for {} outputs", compiled.args.loss_weights.size(), count),
                model.name());

  std::vector<OutputMetric> metrics;
  std::map<std::string, int64_t> names;
  auto addMetrics = [&](const MetricSpec &metricSpec, bool weighted, const char *what) {
    for (size_t i = 0; i < metricSpec.metrics().size(); ++i) {
      bool named = !metricSpec.names().empty();
      size_t first = named ? outputNamed(model, state.outputNames, metricSpec.names()[i], what) : 0,
             last = named ? first + 1 : count;
      for (size_t output = first; output < last; ++output) {
        if (output >= y.size())
          throw Error(ErrorKind::value_error,
                      fmt::format("metric '{}' needs a target for output '{}'", metricSpec.metrics()[i].name(),
                                  state.outputNames[output]),
                      model.name());
        Metric metric = resolveMetric(metricSpec.metrics()[i], y[output].shape(), outputs[output].shape);
        buildMetric(metric, y[output].shape(), outputs[output].shape);
        std::string base = metricSpec.metrics()[i].name();
        const std::string prefix = count > 1 ? state.outputNames[output] + "_" : "";
        metrics.push_back({nameInLogs(names, prefix, base, weighted), output, metric, weighted});
      }
    }
  };
  addMetrics(compiled.args.metrics, false, "metrics");
  addMetrics(compiled.args.weighted_metrics, true, "weighted_metrics");

  moveToDevice(model, compiled);
  for (const OutputMetric &metric : metrics)
    moveVariables(metric.metric.variables(), runtimeOf(*compiled.args.device));
  compiled.losses = std::move(losses);
  compiled.metrics = std::move(metrics);
  if (count > 1)
    for (const std::string &name : state.outputNames)
      compiled.outputTrackers.emplace_back(name + "_loss");
  compiled.logged = loggedMetrics(compiled);
  compiled.ready = true;
}

Logs logsOf(const CompiledModel &compiled, std::vector<Tensor> fetches) {
  return StepValues::logs(std::make_shared<StepValues>(compiled.logged, std::move(fetches), 1));
}

void resetMetrics(CompiledModel &compiled) {
  compiled.lossTracker.reset();
  for (const MeanTracker &tracker : compiled.outputTrackers)
    tracker.reset();
  for (const OutputMetric &metric : compiled.metrics)
    resetMetric(metric.metric);
}

void checkTargets(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &y) {
  ModelState &state = stateOf(model);
  for (size_t i = 0; i < compiled.losses.size() && i < y.size(); ++i) {
    if (!compiled.losses[i].defined())
      continue;
    int64_t classes = i < state.outputs.size() && state.outputs[i].rank() > 0 ? state.outputs[i].shape()[-1]
                      : i < model.impl()->outputSpecs.size() && model.impl()->outputSpecs[i].shape.rank() > 0
                          ? model.impl()->outputSpecs[i].shape[-1]
                          : -1;
    if (classes > 0)
      checkLabels(compiled.losses[i], y[i], classes).orThrow();
  }
}

} // namespace detail

/// Whether the optimizer's own argument scales the loss.
static bool scalesItself(const Optimizer &optimizer) {
  const Config config = optimizer.get_config();
  const nlohmann::ordered_json &fields = ConfigAccess::json(config);
  return fields.contains("loss_scale_factor") && !fields.at("loss_scale_factor").is_null();
}
/// The layers of mixed_float16 below `layer`, by path or, before they have one, by name; each once.
static void addNarrowLayers(const LayerImpl &layer, std::vector<std::string> &names,
                            std::set<const LayerImpl *> &seen) {
  for (const Layer &child : layer.children) {
    const LayerImpl &impl = *child.impl();
    if (!seen.insert(&impl).second)
      continue;
    if (impl.children.empty() && impl.resolvedPolicy().name() == "mixed_float16")
      names.push_back(impl.path.empty() ? impl.name : impl.path);
    addNarrowLayers(impl, names, seen);
  }
}
/// The finding P010 of `halftone-policy lint`. Keras does not scale the loss of such a model either.
static void warnOfUnscaledLoss(const Layer &model, const CompileArgs &args, const Optimizer &optimizer) {
  if (!args.auto_scale_loss || isLossScaleOptimizer(optimizer) || scalesLoss(model.dtype_policy()) ||
      scalesItself(optimizer))
    return;
  std::vector<std::string> names;
  std::set<const LayerImpl *> seen;
  addNarrowLayers(*model.impl(), names, seen);
  if (names.empty())
    return;
  writeOutput(fmt::format("warning: '{}'{} mixed_float16, but the model's own policy is '{}', so nothing scales the "
                          "loss\n",
                          names[0], names.size() > 1 ? fmt::format(" and {} more are", names.size() - 1) : " is",
                          model.dtype_policy().name()));
}

void Model::compile(const CompileArgs &args) const {
  ModelState &state = stateOf(*this);
  if (!args.jit_compile && !args.run_eagerly)
    throw Error(ErrorKind::value_error, "jit_compile = false needs run_eagerly = true: everything else is compiled",
                name());
  if (args.steps_per_execution < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("steps_per_execution must be at least 1, got {}", args.steps_per_execution), name());
  CompileArgs chosen = args;
  chosen.device = args.device.value_or(default_device());
  const DeviceScope device(*chosen.device); // for the variables that are made here
  auto compiled = std::make_shared<CompiledModel>(*this, chosen);
  moveToDevice(*this, *compiled);
  warnOfUnscaledLoss(*this, args, compiled->optimizer);
  std::shared_ptr<CompiledFunction> predict;
  const ForkSafeLock lock(state.mutex);
  state.compiled.swap(compiled); // the old one is destroyed after the unlock, since it may own users' objects
  state.predict.swap(predict);
}

Optimizer Model::optimizer() const { return compiledOf(*this, "asking for the optimizer")->optimizer; }
std::optional<optimizers::LossScaleOptimizer> Model::loss_scale_optimizer() const {
  Optimizer optimizer = this->optimizer();
  if (!isLossScaleOptimizer(optimizer))
    return std::nullopt;
  return asLossScaleOptimizer(optimizer);
}
void Model::stop_training() const { stateOf(*this).stopTraining = true; }

LossSpec::LossSpec(std::initializer_list<std::pair<std::string, Loss>> byName) : LossSpec(std::vector(byName)) {}
LossSpec::LossSpec(const std::vector<std::pair<std::string, Loss>> &byName) {
  for (const auto &[name, loss] : byName) {
    names_.push_back(name);
    losses_.push_back(loss);
  }
}
MetricSpec::MetricSpec(std::initializer_list<std::pair<std::string, std::vector<Metric>>> byName)
    : MetricSpec(std::vector(byName)) {}
MetricSpec::MetricSpec(const std::vector<std::pair<std::string, std::vector<Metric>>> &byName) {
  for (const auto &[name, metrics] : byName)
    for (const Metric &metric : metrics) {
      names_.push_back(name);
      metrics_.push_back(metric);
    }
}

} // namespace halftone
