// compile(), and the programs that train, test and predict.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Trainer.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/BatchLoss.h"
#include "frontend/training/CompileLists.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/StepContext.h"
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

/// The loss scaling of an optimizer passed to compile().
LossScaler scalerOf(const Optimizer &optimizer) {
  if (isLossScaleOptimizer(optimizer))
    return LossScaler::given;
  const Config config = optimizer.get_config();
  const nlohmann::ordered_json &fields = ConfigAccess::json(config);
  const auto factor = fields.find("loss_scale_factor");
  return factor != fields.end() && !factor->is_null() ? LossScaler::factor : LossScaler::none;
}

Optimizer chooseOptimizer(const Layer &model, const CompileArgs &args) {
  if (lossScaler(model.dtype_policy(), scalerOf(args.optimizer), args.auto_scale_loss) != LossScaler::added)
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
  std::vector<Value> x;
  BatchTargets targets;
};
/// Splits the feeds, and sets whether processes share the trace's batch.
Feeds split(const NameList &outputs, const std::vector<Value> &feeds, const FeedLayout &layout) {
  std::vector<std::vector<Value>> parts = layout.split(feeds);
  shareBatch(parts.at(3), layout);
  const std::vector<Value> &targets = parts.at(1), &weights = parts.at(2);
  Feeds result{std::move(parts.at(0)),
               {std::vector<Value>(outputs.names.size()), std::vector<Value>(outputs.names.size())}};
  size_t next = 0;
  for (size_t i = 0; i < outputs.names.size(); ++i)
    if (outputs.needed[i]) {
      result.targets.y[i] = targets.at(next);
      if (!weights.empty())
        result.targets.weights[i] = weights.at(weights.size() == 1 ? 0 : next);
      ++next;
    }
  return result;
}

/// A handle of the model that a program calls. The program stores only the model's address, since a handle would keep
/// the model alive forever. The caller of a program owns a handle.
Layer handle(LayerImpl *layer) { return Layer(layer->shared_from_this()); }

/// Records the loss of the fed batch, and its metrics.
Value lossOfBatch(LayerImpl *layer, CompiledModel &compiled, const std::vector<Value> &values,
                  const FeedLayout &layout) {
  const Feeds feeds = split(compiled.outputs, values, layout);
  const std::vector<Value> predictions = layer->callTraced(feeds.x);
  requireOutputs(*layer, compiled, predictions.size());
  const int64_t rows = feeds.x.at(0).shape()[0];
  const Value loss = computeLoss(handle(layer), compiled, feeds.targets, predictions, rows).part;
  compiled.lossTracker.update(loss, rows);
  updateMetrics(compiled, feeds.targets, predictions);
  return loss;
}
CompiledFunction::Body trainBody(LayerImpl *layer, CompiledModel *compiled) {
  return [=](Trace &, const std::vector<Value> &values, const FeedLayout &layout) -> std::vector<Named> {
    TrainingScope training(true);
    std::vector<Named> fetches;
    if (hasHooks(*layer)) {
      fetches = recordStep(*layer, *compiled, true, values, layout);
    } else {
      Value loss = lossOfBatch(layer, *compiled, values, layout);
      fetches.push_back(
          {"loss", meanOverProcesses(loss)}); // before the update: after it, the sum would be a separate exchange
      minimizeTogether(compiled->optimizer, loss, handle(layer).trainable_variables());
      fetchMetrics(*compiled->logged, fetches);
    }
    if (isLossScaleOptimizer(compiled->optimizer))
      fetches.push_back({"skipped_steps", skippedWord(asLossScaleOptimizer(compiled->optimizer))});
    return fetches;
  };
}
CompiledFunction::Body testBody(LayerImpl *layer, CompiledModel *compiled) {
  return [=](Trace &, const std::vector<Value> &values, const FeedLayout &layout) -> std::vector<Named> {
    TrainingScope training(false);
    if (hasHooks(*layer))
      return recordStep(*layer, *compiled, false, values, layout);
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

void shareBatch(const std::vector<Value> &counts, const FeedLayout &layout) {
  if (counts.empty())
    return;
  tracing().sharedBatch =
      SharedBatch{distribution::rank(), distribution::size(), counts.at(0), counts.at(1), layout.allRows};
  tracing().onlyOptimizer = &tracing(); // none, until minimizeTogether() updates
}

void requireOutputs(const LayerImpl &layer, const CompiledModel &compiled, size_t count) {
  if (count != compiled.losses.size())
    throw Error(ErrorKind::value_error,
                fmt::format("the model has {} outputs, but had {} when it was compiled: call `compile()` again", count,
                            compiled.losses.size()),
                layer.name);
}

FeedLayout batchLayout(size_t inputs, size_t targets, size_t weights, int64_t allRows) {
  return {
      {static_cast<int64_t>(inputs), static_cast<int64_t>(targets), static_cast<int64_t>(weights), allRows > 0 ? 2 : 0},
      allRows};
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
  if (x.names().empty() && x.size() == stateOf(model).inputs.size()) // fast path of every step: names take time
    return {x.begin(), x.end()};
  return inOrder(inputsOf(*model.impl()), "x", x);
}

/// The metrics by name. If a metric and the loss of an output have the same name, the loss takes precedence.
static std::shared_ptr<const LoggedMetrics> loggedMetrics(const CompiledModel &compiled) {
  std::map<std::string, Metric> byName;
  byName.emplace("loss", compiled.lossTracker.metric());
  for (const OutputMetric &metric : compiled.metrics)
    byName.insert_or_assign(metric.name, metric.metric);
  for (const auto &[output, tracker] : compiled.outputTrackers)
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

/// Keras's name of a metric in the logs. If the name is taken, a weighted metric gets the prefix "weighted_", and then
/// suffixes "_1" and so on. `taken` counts the metrics of each name.
static std::string nameInLogs(std::map<std::string, int64_t> &taken, const std::string &prefix,
                              const std::string &metric, bool weighted) {
  const bool again = weighted && taken.contains(prefix + metric);
  const std::string name = prefix + (again ? "weighted_" : "") + metric;
  const int64_t before = taken[name]++;
  return before == 0 ? name : fmt::format("{}_{}", name, before);
}

MatchedOutputs matchSpecs(const Layer &model, const CompiledModel &compiled, std::vector<ValueSpec> specs) {
  ModelState &state = stateOf(model);
  MatchedOutputs matched{.specs = std::move(specs), .names = {}, .losses = {}};
  const size_t count = matched.specs.size();
  CallTransaction transaction;
  CallTransaction::onFailure([model, &state, names = state.outputNames] { state.outputNames = names; });
  if (state.outputNames.size() != count) {
    state.outputNames.clear();
    for (size_t i = 0; i < count; ++i)
      state.outputNames.push_back(fmt::format("output_{}", i));
  }
  matched.names = {.owner = fmt::format("'{}'", model.name()), .path = model.name(), .names = state.outputNames};
  matched.losses = lossesOf(matched.names, compiled.args.loss);
  std::vector<bool> needed(count);
  for (size_t i = 0; i < count; ++i)
    needed[i] = matched.losses[i].defined();
  for (const auto &[spec, argument] :
       {std::pair(&compiled.args.metrics, "metrics"), std::pair(&compiled.args.weighted_metrics, "weighted_metrics")})
    for (const std::vector<size_t> &positions : metricPositions(matched.names, *spec, argument))
      for (const size_t output : positions)
        needed[output] = true;
  matched.names.needed = std::move(needed);
  transaction.commit();
  return matched;
}

MatchedOutputs matchOutputs(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &x) {
  const DeviceScope device(*compiled.args.device); // for the layers built here
  std::vector<ValueSpec> inputs;
  for (const Tensor &tensor : x)
    inputs.push_back({tensor.shape(), tensor.dtype()});
  return matchSpecs(model, compiled, inferSpecs(inputs, [&](const std::vector<Value> &values) {
                      return model.impl()->callTraced(values);
                    }));
}

/// Assigns losses and metrics to the outputs; `targets` are the target shapes by output. On error the compiled model is
/// unchanged.
static void matchCompiled(const Layer &model, CompiledModel &compiled, MatchedOutputs matched,
                          const std::vector<Shape> &targets) {
  const DeviceScope device(*compiled.args.device); // for the metrics created here
  const std::vector<std::string> &outputs = matched.names.names;
  std::vector<double> lossWeights = lossWeightsOf(matched.names, compiled.args);
  std::vector<OutputMetric> metrics;
  std::map<std::string, int64_t> names;
  const auto use = std::make_shared<const char>();
  auto addMetrics = [&](const MetricSpec &spec, bool weighted, const char *what) {
    const std::vector<std::vector<size_t>> positions = metricPositions(matched.names, spec, what);
    for (size_t i = 0; i < spec.metrics().size(); ++i)
      for (const size_t output : positions[i]) {
        const Metric metric = ownMetric(spec.metrics()[i], targets[output], matched.specs[output].shape, use);
        const std::string prefix = outputs.size() > 1 ? outputs[output] + "_" : "";
        metrics.push_back({nameInLogs(names, prefix, spec.metrics()[i].name(), weighted), output, metric, weighted});
      }
  };
  addMetrics(compiled.args.metrics, false, "metrics");
  addMetrics(compiled.args.weighted_metrics, true, "weighted_metrics");

  moveToDevice(model, compiled);
  for (const OutputMetric &metric : metrics)
    moveVariables(metric.metric.variables(), runtimeOf(*compiled.args.device));
  if (std::ranges::count_if(matched.losses, &Loss::defined) > 1) // as in Keras
    for (size_t i = 0; i < outputs.size(); ++i)
      if (matched.losses[i].defined())
        compiled.outputTrackers.emplace(i, outputs[i] + "_loss");
  compiled.outputs = std::move(matched.names);
  compiled.losses = std::move(matched.losses);
  compiled.lossWeights = std::move(lossWeights);
  compiled.metrics = std::move(metrics);
  compiled.use = use;
  compiled.logged = loggedMetrics(compiled);
}

/// Matches compile()'s lists with `match` unless they are matched.
static void prepareBy(CompiledModel &compiled, const std::function<void()> &match) {
  compiled.prepared.require(match, [&compiled] {
    compiled.outputs = {};
    compiled.losses.clear();
    compiled.lossWeights.clear();
    compiled.metrics.clear();
    compiled.use.reset();
    compiled.outputTrackers.clear();
    compiled.logged = nullptr;
  });
}

void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Tensor> &x, const Tensors &y) {
  prepareBy(compiled, [&] {
    MatchedOutputs matched = matchOutputs(model, compiled, x);
    if (compiled.prepared.isMade()) // a layer's code has trained the model
      return;
    std::vector<Shape> targets;
    for (const Tensor &target : inOrder(matched.names, "y", y))
      targets.push_back(target.defined() ? target.shape() : Shape());
    matchCompiled(model, compiled, std::move(matched), targets);
  });
}

void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Value> &predictions,
                     const Values &y) {
  prepareBy(compiled, [&] {
    MatchedOutputs matched = matchSpecs(model, compiled, specsOf(predictions));
    std::vector<Shape> targets;
    for (const std::optional<size_t> &entry : entriesOf(matched.names, "y", {}, y.size()))
      targets.push_back(entry ? y[*entry].shape() : Shape());
    matchCompiled(model, compiled, std::move(matched), targets);
  });
}

Logs logsOf(const CompiledModel &compiled, bool isTraining, std::vector<Tensor> fetches) {
  const std::shared_ptr<const StepRecord> step = compiled.steps[isTraining].known();
  return StepValues::logs(std::make_shared<StepValues>(step ? step->logged : compiled.logged, std::move(fetches),
                                                       step && !step->hasLoss ? 0 : 1));
}

std::string lossText(const Layer &model, CompiledModel &compiled, bool isTraining, const std::vector<TensorType> &types,
                     const FeedLayout &feedLayout) {
  CompiledFunction program(
      optionsOf(model, &compiled.args, "loss"), {},
      [&](Trace &, const std::vector<Value> &values, const FeedLayout &layout) -> std::vector<Named> {
        const TrainingScope training(isTraining);
        if (hasHooks(*model.impl()))
          return recordLosses(*model.impl(), compiled, isTraining, values, layout);
        return {{"loss", lossOfBatch(model.impl().get(), compiled, values, layout)}};
      });
  return program.ir(Stage::graph, types, feedLayout);
}

std::vector<Variable> metricVariables(const CompiledModel &compiled) {
  std::vector<Variable> all;
  const auto add = [&](const Metric &metric) {
    for (const Variable &variable : metric.variables())
      all.push_back(variable);
  };
  std::set<const VariableImpl *> added; // a metric of both programs is added once
  for (const RecordedStep &step : compiled.steps)
    if (const std::shared_ptr<const StepRecord> record = step.known())
      for (const Metric &metric : record->metrics)
        for (const Variable &variable : metric.variables())
          if (added.insert(variable.impl().get()).second)
            all.push_back(variable);
  if (!added.empty())
    return all;
  add(compiled.lossTracker.metric());
  for (const auto &[output, tracker] : compiled.outputTrackers)
    add(tracker.metric());
  for (const OutputMetric &metric : compiled.metrics)
    add(metric.metric);
  return all;
}

void checkTargets(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &y) {
  ModelState &state = stateOf(model);
  for (size_t i = 0; i < compiled.losses.size() && i < y.size(); ++i) {
    const std::vector<ValueSpec> &specs = model.impl()->outputSpecs;
    const Shape shape = i < state.outputs.size() ? state.outputs[i].shape()
                        : i < specs.size()       ? specs[i].shape
                                                 : Shape();
    if (!compiled.losses[i].defined() || shape.rank() == 0)
      continue;
    const LossImpl &loss = *compiled.losses[i].impl();
    const int64_t axis = loss.classLabels ? normalizeAxis(loss.name, loss.axis, shape.rank()) : -1;
    if (const int64_t classes = shape[axis]; classes > 0)
      checkLabels(compiled.losses[i], y[i], classes).orThrow();
  }
}

} // namespace detail

/// The mixed_float16 layers below `model`, by path or, before they have one, by name; without duplicates.
static std::vector<std::string> narrowLayers(const Layer &model) {
  std::vector<std::string> names;
  for (const Layer &layer : layersBelow(*model.impl()))
    if (const LayerImpl &impl = *layer.impl(); impl.children.empty() && impl.resolvedPolicy().name() == "mixed_float16")
      names.push_back(impl.path.empty() ? impl.name : impl.path);
  return names;
}
/// The finding P010 of `halftone-policy lint`. Keras does not scale the loss of such a model either.
static void warnOfUnscaledLoss(const Layer &model, const CompileArgs &args) {
  if (!args.auto_scale_loss || lossScaler(model.dtype_policy(), scalerOf(args.optimizer)) != LossScaler::none)
    return;
  const std::vector<std::string> names = narrowLayers(model);
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
  chosen.optimizer = ownOptimizer(args.optimizer);
  const DeviceScope device(*chosen.device); // for the variables created here
  auto compiled = std::make_shared<CompiledModel>(*this, chosen);
  moveToDevice(*this, *compiled);
  warnOfUnscaledLoss(*this, args);
  std::shared_ptr<CompiledFunction> predict;
  const ForkSafeLock lock(state.mutex);
  state.compiled.swap(compiled); // the old one is destroyed after the unlock, since it may own user objects
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

} // namespace halftone
