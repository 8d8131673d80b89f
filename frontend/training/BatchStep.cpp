// Feeds batches to the train and test programs; the *_on_batch calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/BatchStep.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/data/Batches.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/TraceCompile.h"
#include "frontend/layers/HostBody.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/training/BatchLoss.h"
#include "frontend/training/CallFacts.h"
#include "frontend/training/ClassWeights.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/StepContext.h"
#include "frontend/training/Together.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
using namespace detail;

namespace {

struct Feeds {
  std::vector<Tensor> tensors;
  FeedLayout layout;
};
/// value_error if an input has the shape of a sample, one rank below a batch.
void requireBatches(const Layer &model, const std::vector<Tensor> &x) {
  const std::vector<Value> inputs = stateOf(model).inputs;
  for (size_t i = 0; i < std::min(inputs.size(), x.size()); ++i) {
    const Shape expected = inputs[i].shape(), given = x[i].shape();
    bool isSample = given.rank() + 1 == expected.rank() && expected[-1] != 1;
    for (int64_t axis = 0; isSample && axis < given.rank(); ++axis)
      isSample = expected[axis + 1] < 0 || expected[axis + 1] == given[axis];
    if (isSample)
      throw Error(
          ErrorKind::value_error,
          fmt::format("Input '{}' takes batches of shape {}, but it received {}, the shape of a sample: call "
                      "batch(batch_size) on a Dataset of samples, or give the sample a leading axis of extent 1",
                      inputs[i].node()->name, expected.str(), given.str()),
          model.name());
  }
}

/// The sample weights: none, one for all outputs, or one per output that needs a target. value_error as of inOrder(),
/// and unless unnamed lists have as many weights as targets.
std::vector<Tensor> weightsInOrder(const NameList &outputs, const Batch &batch) {
  const Tensors &weights = batch.sample_weight;
  if (weights.empty() || (weights.size() == 1 && weights.names().empty()))
    return {weights.begin(), weights.end()};
  std::vector<Tensor> ordered;
  const std::vector<Tensor> all = inOrder(outputs, "sample_weight", weights);
  for (size_t i = 0; i < all.size(); ++i)
    if (outputs.needed[i])
      ordered.push_back(all[i]);
  if (weights.names().empty() && batch.y.names().empty())
    requireWeightEntries(weights.size(), batch.y.size(), outputs.path);
  return ordered;
}

/// The targets and weights of a batch in feed order, and their numbers.
struct FedTargets {
  std::vector<Tensor> tensors;
  size_t targets = 0, weights = 0;
};
/// Returns the targets and weights for a model with hooks: as given or, if they have names, in the order of the
/// outputs.
FedTargets givenTargets(const Run &run, const std::vector<Tensor> &x, const Batch &batch) {
  std::vector<Tensor> y(batch.y.begin(), batch.y.end()),
      weights(batch.sample_weight.begin(), batch.sample_weight.end());
  if (!batch.y.names().empty() || !batch.sample_weight.names().empty()) {
    prepareCompiled(run.model, *run.compiled, x, batch.y);
    y = inOrder(run.compiled->outputs, "y", batch.y);
    weights = weightsInOrder(run.compiled->outputs, batch);
    std::erase_if(y, [](const Tensor &target) { return !target.defined(); });
  }
  requireWeightEntries(weights.size(), y.size(), run.model.name());
  FedTargets fed{std::move(y), 0, weights.size()};
  fed.targets = fed.tensors.size();
  fed.tensors.insert(fed.tensors.end(), weights.begin(), weights.end());
  return fed;
}
/// Returns the targets and weights for a model without hooks: those of the outputs that need targets. Checks the labels
/// unless `labelsChecked`.
FedTargets neededTargets(const Run &run, const std::vector<Tensor> &x, const BatchPart &part, bool labelsChecked) {
  prepareCompiled(run.model, *run.compiled, x, part.batch.y);
  const NameList &outputs = run.compiled->outputs;
  const std::vector<Tensor> y = inOrder(outputs, "y", part.batch.y), weights = weightsInOrder(outputs, part.batch);
  if (!labelsChecked)
    checkTargets(run.model, *run.compiled, inOrder(outputs, "y", part.allTargets));
  FedTargets fed{{}, 0, weights.size()};
  for (size_t i = 0; i < y.size(); ++i)
    if (outputs.needed[i]) {
      fed.tensors.push_back(y[i]);
      ++fed.targets;
    }
  fed.tensors.insert(fed.tensors.end(), weights.begin(), weights.end());
  return fed;
}

/// Checks the labels for a model with hooks: those of the targets that compile()'s losses use unchanged.
void checkGivenTargets(const Run &run, const std::vector<Tensor> &x, bool isTraining, const Batch &all) {
  const std::shared_ptr<const StepRecord> record = run.compiled->steps[isTraining].known();
  if (!record || record->targets.empty())
    return;
  const FedTargets given = givenTargets(run, x, {all.x, all.y, {}});
  std::vector<Tensor> y(run.compiled->losses.size());
  for (const auto &[position, output] : record->targets)
    if (position < given.targets && output < y.size())
      y[output] = given.tensors[position];
  checkTargets(run.model, *run.compiled, y);
}

/// Converts a batch to feeds of the train or test program. First checks the compiled state and, unless `labelsChecked`,
/// the labels.
Feeds feedsOf(const Run &run, bool isTraining, const BatchPart &part, bool labelsChecked) {
  checkRows(part.batch);
  const bool hooked = hasHooks(*run.model.impl());
  const std::vector<Tensor> x = orderedInputs(run.model, part.batch.x);
  requireBatches(run.model, x);
  const FedTargets fed = hooked ? givenTargets(run, x, part.batch) : neededTargets(run, x, part, labelsChecked);
  const bool isShared = processGroup() != nullptr;
  Feeds feeds{x, batchLayout(x.size(), fed.targets, fed.weights, isShared ? part.allRows : 0)};
  feeds.tensors.insert(feeds.tensors.end(), fed.tensors.begin(), fed.tensors.end());
  if (isShared)
    for (int64_t rows : {part.rows, part.allRows})
      feeds.tensors.push_back(Tensor::full({}, static_cast<double>(rows), DType::float32));
  if (!hooked)
    return feeds;
  requireRecord(run.model, *run.compiled, isTraining, typesOf(feeds.tensors), feeds.layout);
  if (!labelsChecked)
    checkGivenTargets(run, x, isTraining, {part.batch.x, part.allTargets, {}});
  return feeds;
}

InitialValues initialValues(const CompiledModel &compiled) {
  InitialValues values;
  for (const OutputMetric &metric : compiled.metrics) {
    const MetricImpl &impl = *metric.metric.impl();
    for (size_t i = 0; i < impl.state.size(); ++i)
      if (impl.initial[i].defined())
        values.emplace(impl.state[i].impl().get(), impl.initial[i]);
  }
  return values;
}

std::shared_ptr<const VariableSubstitutes> substitutesOf(const Run &run) {
  const DeviceScope device(*run.compiled->args.device); // for those created here
  return run.metrics.substitutes(metricVariables(*run.compiled), initialValues(*run.compiled));
}

} // namespace

void detail::prepare(const Run &run, const BatchSource &batches, bool isTraining) {
  const bool hooked = hasHooks(*run.model.impl());
  CompiledFunction &program = isTraining ? run.compiled->train : run.compiled->test;
  const Batch &arrays = batches.arrays();
  if (batches.areArrays() && !hooked) {
    prepareCompiled(run.model, *run.compiled, orderedInputs(run.model, arrays.x), arrays.y);
    checkTargets(run.model, *run.compiled, inOrder(run.compiled->outputs, "y", arrays.y));
  }
  bool areChecked = !hooked;
  for (const BatchPart &part : batches.shapes()) {
    Feeds feeds = feedsOf(run, isTraining, part, true);
    if (!std::exchange(areChecked, true)) // using the record from feedsOf()
      checkGivenTargets(run, orderedInputs(run.model, arrays.x), isTraining, arrays);
    program.prepare(feeds.tensors, feeds.layout, substitutesOf(run));
  }
}

void detail::resetMetrics(const Run &run) {
  const InitialValues initial = initialValues(*run.compiled);
  const std::shared_ptr<const VariableSubstitutes> substitutes = substitutesOf(run);
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;
  for (const Variable &variable : metricVariables(*run.compiled)) {
    variables.push_back(memoryIn(substitutes, variable.impl()->memory));
    const auto found = initial.find(variable.impl().get());
    values.push_back(found != initial.end() ? found->second
                                            : Tensor::zeros(variable.impl()->shape, variable.impl()->dtype));
  }
  writeTogether(variables, values).orThrow();
}

/// The variables of the metrics that training steps log, for this run.
static std::vector<VariableHandle> trainingMetrics(const Run &run) {
  std::vector<Variable> own;
  if (const std::shared_ptr<const StepRecord> record = run.compiled->steps[1].known()) {
    for (const Metric &metric : record->metrics)
      for (const Variable &variable : metric.variables())
        own.push_back(variable);
  } else {
    own = metricVariables(*run.compiled);
  }
  const std::shared_ptr<const VariableSubstitutes> substitutes = substitutesOf(run);
  std::vector<VariableHandle> variables;
  for (const Variable &variable : own)
    variables.push_back(memoryIn(substitutes, variable.impl()->memory));
  return variables;
}

std::vector<Tensor> detail::metricSums(const Run &run) { return readTogether(trainingMetrics(run)).valueOrThrow(); }

void detail::setMetricSums(const Run &run, const BatchPart &next, const std::vector<Tensor> &sums) {
  CallTransaction preparing(CallTransaction::Extent::program);
  (void)feedsOf(run, true, next, true); // matches the metrics to outputs; the step checks the labels
  preparing.commit();
  const std::vector<VariableHandle> variables = trainingMetrics(run);
  bool areSame = variables.size() == sums.size();
  for (size_t i = 0; i < sums.size() && areSame; ++i)
    areSame = Shape(variables[i]->type().shape) == sums[i].shape() && variables[i]->type().dtype == sums[i].dtype();
  if (!areSame)
    throw Error(ErrorKind::value_error,
                "the checkpoint was written within an epoch, with the sums of metrics other than those of compile()",
                run.model.name());
  writeTogether(variables, sums).orThrow();
}

void detail::splitState(const CompiledModel &compiled) {
  OptimizerImpl &optimizer = *compiled.optimizer.impl();
  if (const std::shared_ptr<ProcessGroup> group = processGroup(); !group)
    optimizer.parts().requireWhole();
  else if (!optimizer.parts().areSplit() && distribution::distribution()->args().shard_optimizer_state)
    optimizer.split(group->rank(), group->size());
}

std::function<void(const BatchPart &)> detail::hostStepsAhead(const Model &model,
                                                              std::shared_ptr<CompiledFunction> program) {
  const auto isOnHost = [](const Layer &layer) { return dynamic_cast<const HostBody *>(layer.impl()->body.get()); };
  if (std::ranges::none_of(layersBelow(*model.impl()), isOnHost))
    return nullptr;
  return [inputs = inputsOf(*model.impl()), program = std::move(program)](const BatchPart &part) {
    const Tensors &x = part.batch.x;
    program->runHostStepsAhead(x.names().empty() ? std::vector<Tensor>(x.begin(), x.end()) : inOrder(inputs, "x", x));
  };
}

/// Plays a program for a batch, with the other processes if they share it.
static std::vector<Tensor> play(const Run &run, CompiledFunction &program, const Feeds &feeds, int64_t allRows) {
  if (!processGroup())
    return program.run(feeds.tensors, feeds.layout, substitutesOf(run));
  const ExchangeScope scope(fmt::format("a step of {} rows", allRows));
  agreeOnStep(run.model, *run.compiled, program, {typesOf(feeds.tensors), feeds.layout, allRows});
  return program.run(feeds.tensors, feeds.layout, substitutesOf(run));
}

StepResult detail::trainStep(const Run &run, const BatchPart &part, bool labelsChecked) {
  splitState(*run.compiled);
  CallTransaction transaction(CallTransaction::Extent::program);
  Feeds feeds = feedsOf(run, true, part, labelsChecked);
  std::vector<Tensor> fetches = play(run, run.compiled->train, feeds, part.allRows);
  transaction.commit();
  ModelState &state = stateOf(run.model);
  if (part.rows >= run.maxRows) {
    run.maxRows = part.rows;
    const ForkSafeLock lock(state.mutex);
    state.fullStepTypes = typesOf(feeds.tensors);
    state.fullStepLayout = feeds.layout;
  }
  StepResult result;
  if (isLossScaleOptimizer(run.compiled->optimizer)) // the train program fetches the skippedWord() after all metrics
    result.skipped = fetches.back();
  result.logs = logsOf(*run.compiled, true, std::move(fetches));
  return result;
}
StepResult detail::testStep(const Run &run, const BatchPart &part, bool labelsChecked) {
  CallTransaction transaction(CallTransaction::Extent::program);
  Feeds feeds = feedsOf(run, false, part, labelsChecked);
  std::vector<Tensor> fetches = play(run, run.compiled->test, feeds, part.allRows);
  transaction.commit();
  return {.logs = logsOf(*run.compiled, false, std::move(fetches)), .skipped = {}};
}

Tensor Model::predict_on_batch(const Tensors &x) const {
  const Model model = *this;
  std::vector<Tensor> outputs = predictFunction(model)->run(orderedInputs(model, x));
  if (outputs.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", outputs.size()),
                model.name());
  return outputs[0];
}

/// Compares the processes before the first batch, and before a batch with other arguments. Before the first batch, all
/// processes get the weights of rank 0, unless fit() or evaluate() has already distributed them.
static void beginBatch(const Model &model, const TogetherCall &call, const Batch &batch, const BatchArgs &args) {
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  std::vector<Fact> own;
  addData(batch, own);
  addArgs(args, own);
  std::string key = fmt::format("{}", configurationEpoch());
  for (const auto &[name, value] : own)
    key += fmt::format("; {} {}", name, value);
  if (compiled && compiled->begunTogether && compiled->agreedSteps.contains(key))
    return;
  call.agree(model, [&](std::vector<Fact> &facts) { facts.insert(facts.end(), own.begin(), own.end()); });
  if (compiled)
    compiled->agreedSteps.insert(key);
}

namespace {
/// A single-batch call: its name, its description in the error about a missing compile(), and its program.
struct BatchCall {
  const char *name, *before;
  bool isTraining;
  StepResult (&step)(const Run &, const BatchPart &, bool);
};
} // namespace

static Logs onBatch(const Model &model, const BatchCall &kind, const Tensors &x, const Tensors &y,
                    const BatchArgs &args) {
  const FloatMode mode;
  const TogetherCall call(kind.name);
  const bool isShared = processGroup() != nullptr;
  if (isShared)
    beginBatch(model, call, {x, y, {}}, args);
  const Run run(model, kind.before);
  Batch batch = weighedByClass(run.model, {x, y, args.sample_weight}, args.class_weight);
  if (checkRows(batch) == 0)
    throw Error(ErrorKind::value_error, "no data was given: the batch has 0 samples", run.model.name());
  const BatchPart part = ownPart(batch);
  if (isShared && !run.compiled->begunTogether) {
    CallTransaction preparing(CallTransaction::Extent::program);
    (void)feedsOf(run, kind.isTraining, part, false); // builds the model
    beginTogether(run.model, run.compiled.get());
    preparing.commit();
  }
  resetMetrics(run);
  return kind.step(run, part, false).logs;
}
Logs Model::train_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch(*this, {"train_on_batch()", "using the model's `train_on_batch()`", true, trainStep}, x, y, args);
}
Logs Model::test_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch(*this, {"test_on_batch()", "using the model's `test_on_batch()`", false, testStep}, x, y, args);
}

} // namespace halftone
