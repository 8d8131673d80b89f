// fit, evaluate, predict and the *_on_batch calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/BatchSource.h"
#include "frontend/CallbackList.h"
#include "frontend/ClassWeights.h"
#include "frontend/ModelState.h"
#include "frontend/OptimizerImpl.h"
#include "frontend/io/Batches.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
using namespace detail;

struct History::Rep {
  std::vector<std::pair<std::string, std::vector<double>>> values;
  std::vector<int64_t> epochs;
};

namespace {

/// What a run holds while users' code is called, which may destroy the caller's model or compile it anew: the model,
/// and what compile() had made of it when the run began.
struct Run {
  Run(const Model &m, const char *before) : model(m), compiled(compiledOf(m, before)) {}
  Model model;
  std::shared_ptr<CompiledModel> compiled;
};

struct Feeds {
  std::vector<Tensor> tensors;
  std::string variant;
};
/// A batch as feeds of the train and test programs. Compiled state and, unless they were before, labels are checked
/// first.
Feeds feedsOf(const Run &run, const Batch &batch, bool labelsChecked) {
  checkRows(batch);
  std::vector<Tensor> x = orderedInputs(run.model, batch.x), y = targetsInOrder(run.model, batch.y);
  prepareCompiled(run.model, *run.compiled, x, y);
  const CompiledModel &compiled = *run.compiled;
  auto requireTarget = [&](size_t output, const char *what) {
    if (output >= y.size())
      throw Error(
          ErrorKind::value_error,
          fmt::format("Target data is missing: the model was compiled with a {} for output {}, but y has {} tensors",
                      what, output, y.size()),
          run.model.name());
  };
  for (size_t i = 0; i < compiled.losses.size(); ++i)
    if (compiled.losses[i].defined())
      requireTarget(i, "loss");
  for (const OutputMetric &metric : compiled.metrics)
    requireTarget(metric.output, "metric");
  if (!labelsChecked)
    checkTargets(run.model, compiled, y);
  Feeds feeds{x, feedVariant(y.size(), batch.sample_weight.size())};
  feeds.tensors.insert(feeds.tensors.end(), y.begin(), y.end());
  feeds.tensors.insert(feeds.tensors.end(), batch.sample_weight.begin(), batch.sample_weight.end());
  return feeds;
}

void prepare(const Run &run, const BatchSource &batches, CompiledFunction &program) {
  if (batches.areArrays()) {
    std::vector<Tensor> y = targetsInOrder(run.model, batches.arrays().y);
    prepareCompiled(run.model, *run.compiled, orderedInputs(run.model, batches.arrays().x), y);
    checkTargets(run.model, *run.compiled, y);
  }
  for (const Batch &batch : batches.shapes()) {
    Feeds feeds = feedsOf(run, batch, true);
    program.prepare(typesOf(feeds.tensors), feeds.variant);
  }
}

struct StepResult {
  Logs logs;
  Tensor skipped; // of training with a scaled loss: its word of skipped steps
};
StepResult resultOf(const CompiledModel &compiled, std::vector<Tensor> fetches) {
  StepResult result;
  if (fetches.size() > 1 + 2 * compiled.logged->size())
    result.skipped = fetches.back();
  result.logs = logsOf(compiled, std::move(fetches));
  return result;
}

StepResult trainStep(const Run &run, const Batch &batch, bool labelsChecked) {
  Feeds feeds = feedsOf(run, batch, labelsChecked);
  std::vector<Tensor> fetches = run.compiled->train.run(feeds.tensors, feeds.variant);
  ModelState &state = stateOf(run.model);
  {
    const ForkSafeLock lock(state.mutex);
    state.lastTrainTypes = typesOf(feeds.tensors);
    state.lastTrainVariant = feeds.variant;
  }
  return resultOf(*run.compiled, std::move(fetches));
}
StepResult testStep(const Run &run, const Batch &batch, bool labelsChecked) {
  Feeds feeds = feedsOf(run, batch, labelsChecked);
  return resultOf(*run.compiled, run.compiled->test.run(feeds.tensors, feeds.variant));
}

[[noreturn]] void refuseWeights(const Model &model) {
  throw Error(ErrorKind::value_error,
              "When providing `x` as a Dataset, `sample_weight` should not be passed. Instead, the sample weights "
              "should be included as part of the Dataset.",
              model.name());
}
void requireBatches(const EpochReader::Epoch &epoch) {
  if (epoch.steps == 0)
    throw Error(ErrorKind::value_error, "no data was given: the dataset is empty");
}
void warnWhenOut(const EpochReader::Epoch &epoch, const EpochReader &reader, const char *what) {
  if (!epoch.ranOut)
    return;
  std::string wanted = reader.steps() ? fmt::format("{} of {}", epoch.steps, *reader.steps()) : "no more";
  writeOutput(
      fmt::format("\nwarning: Your input ran out of data; interrupting {}: {} batches came. Make sure that your "
                  "dataset or generator can generate at least `steps_per_epoch * epochs` batches.\n",
                  what, wanted));
}

Logs runTest(const Run &run, const BatchSource &batches, EpochReader reader, CallbackList &callbacks) {
  resetMetrics(*run.compiled);
  callbacks.testBegin();
  Logs logs;
  EpochReader::Epoch epoch = reader.epoch([&](int64_t i, const Batch &batch) {
    logs = testStep(run, batch, batches.areArrays()).logs;
    callbacks.testBatchEnd(i, logs);
    return true;
  });
  requireBatches(epoch);
  warnWhenOut(epoch, reader, "evaluation");
  callbacks.testEnd(logs);
  return logs;
}

/// Says once that nothing is learnt any more because step after step is skipped.
class StallAlarm {
public:
  explicit StallAlarm(const Optimizer &optimizer) {
    if (isLossScaleOptimizer(optimizer))
      optimizer_ = asLossScaleOptimizer(optimizer);
  }
  void stepped(int64_t epoch, int64_t step, const Tensor &skipped) {
    if (!optimizer_)
      return;
    newest_ = {epoch, step, skipped};
    if (TensorAccess::device(skipped) == nullptr)
      look();
  }
  /// At what the last step gave, if it has run; never waits.
  void look() {
    if (!optimizer_ || !newest_.skipped.defined() || !TensorAccess::isReady(newest_.skipped))
      return;
    const Newest seen = std::exchange(newest_, {});
    if (!isStalled(*optimizer_, seen.skipped.item<int64_t>()))
      return;
    const optimizers::LossScaleState state = optimizer_->state();
    writeOutput(fmt::format("\nwarning: loss scaling skipped {} steps in a row, up to step {} of epoch {}: their "
                            "gradients were not finite, in the last one first that of '{}', and the weights have not "
                            "changed since. The loss scale is now {}. Look for infinities and NaN in the data, the "
                            "loss and the weights.\n",
                            state.stalled_steps, seen.step + 1, seen.epoch + 1, state.last_fault, state.scale));
    optimizer_.reset();
  }

private:
  std::optional<optimizers::LossScaleOptimizer> optimizer_; // empty once it was said
  struct Newest {
    int64_t epoch = 0, step = 0;
    Tensor skipped; // undefined once it was looked at
  } newest_;
};

struct SplitData {
  Batch train;
  std::optional<Batch> validation;
};
SplitData splitData(const Batch &all, double share) {
  if (share == 0.0)
    return {all, std::nullopt};
  int64_t rows = checkRows(all);
  bool inRange = share > 0.0 && share < 1.0;
  int64_t kept = inRange ? static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1.0 - share))) : 0;
  if (kept == 0 || kept == rows)
    throw Error(ErrorKind::value_error, fmt::format("Training data contains {} samples, which is not sufficient to "
                                                    "split it into a validation and training set as specified by "
                                                    "`validation_split={}`. Either provide more data, or a different "
                                                    "value for the `validation_split` argument.",
                                                    rows, share));
  auto part = [&](const Tensors &tensors, int64_t begin, int64_t end) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(tensor.slice(begin, end));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  auto rowsOf = [&](int64_t begin, int64_t end) {
    return Batch{part(all.x, begin, end), part(all.y, begin, end), part(all.sample_weight, begin, end)};
  };
  return {rowsOf(0, kept), rowsOf(kept, rows)};
}

/// The data of one fit.
struct FitData {
  BatchSource train;
  std::optional<BatchSource> validation;
  ClassWeights classWeight; // for batches as they come; of arrays the weights are made
};

std::optional<BatchSource> validationOf(const FitArgs &args, const std::optional<Batch> &split) {
  int64_t size = args.validation_batch_size.value_or(args.batch_size);
  const char *argument = args.validation_batch_size ? "validation_batch_size" : "batch_size";
  if (split)
    return BatchSource(*split, size, argument);
  if (!args.validation_data.defined())
    return std::nullopt;
  if (args.validation_data.dataset())
    return BatchSource(*args.validation_data.dataset());
  return BatchSource(args.validation_data.arrays(), size, argument);
}

void checkNumbers(const Model &model, const FitArgs &args) {
  auto require = [&](const char *argument, int64_t value, int64_t least) {
    if (value < least)
      throw Error(ErrorKind::value_error,
                  fmt::format("{} must {}, got {}", argument, least == 0 ? "not be negative" : "be positive", value),
                  model.name());
  };
  require("epochs", args.epochs, 0);
  require("initial_epoch", args.initial_epoch, 0);
  require("validation_freq", args.validation_freq, 1);
  require("validation_steps", args.validation_steps.value_or(1), 1);
  require("validation_batch_size", args.validation_batch_size.value_or(1), 1);
}

void recordEpoch(History::Rep &rep, int64_t epoch, const Logs &logs) {
  rep.epochs.push_back(epoch);
  for (const auto &[name, value] : logs) {
    auto found =
        std::find_if(rep.values.begin(), rep.values.end(), [&](const auto &entry) { return entry.first == name; });
    if (found == rep.values.end())
      found = rep.values.insert(rep.values.end(), {name, {}});
    found->second.push_back(value);
  }
}

/// The loop behind both forms of fit. It has its arguments to itself: users' code may destroy what was given.
std::shared_ptr<History::Rep> fitLoop(Run run, FitData data, FitArgs args) {
  checkNumbers(run.model, args);
  CompiledModel &compiled = *run.compiled;
  ModelState &state = stateOf(run.model);
  EpochReader reader(data.train, args.shuffle, args.steps_per_epoch, "steps_per_epoch");
  // Everything is compiled before the first step: train and validation, whole and last batches.
  prepare(run, data.train, compiled.train);
  if (data.validation)
    prepare(run, *data.validation, compiled.test);
  CallbackList callbacks(run.model, args.callbacks, {args.verbose, args.epochs, reader.steps()});
  StallAlarm alarm(compiled.optimizer);
  auto history = std::make_shared<History::Rep>();
  state.stopTraining = false;
  callbacks.trainBegin();
  Logs logs;
  for (int64_t epoch = args.initial_epoch; epoch < args.epochs; ++epoch) {
    resetMetrics(compiled);
    callbacks.epochBegin(epoch);
    EpochReader::Epoch seen = reader.epoch([&](int64_t i, const Batch &batch) {
      callbacks.trainBatchBegin(i);
      alarm.look(); // before more is queued that it would wait for
      StepResult result = trainStep(run, weighedByClass(run.model, batch, data.classWeight), data.train.areArrays());
      alarm.stepped(epoch, i, result.skipped);
      logs = std::move(result.logs);
      callbacks.trainBatchEnd(i, logs);
      return !state.stopTraining;
    });
    if (epoch == args.initial_epoch)
      requireBatches(seen);
    seen.ranOut |= seen.steps == 0; // a stream that cannot begin again
    warnWhenOut(seen, reader, "training");
    if (seen.steps == 0)
      break;
    if (data.validation && (epoch + 1) % args.validation_freq == 0)
      for (const auto &[name, value] : runTest(
               run, *data.validation, {*data.validation, false, args.validation_steps, "validation_steps"}, callbacks))
        logs.set("val_" + name, value);
    callbacks.epochEnd(epoch, logs);
    recordEpoch(*history, epoch, logs);
    alarm.look();
    if (state.stopTraining)
      break;
  }
  if (args.epochs > 0)
    compiled.optimizer.finalize_variable_values(run.model.trainable_variables());
  callbacks.trainEnd(logs);
  return history;
}

} // namespace

History Model::fit(const Tensors &x, const Tensors &y, const FitArgs &args) const {
  Run run(*this, "using the model's `fit()`");
  checkNumbers(*this, args);
  SplitData split = splitData({x, y, args.sample_weight}, args.validation_data.defined() ? 0.0 : args.validation_split);
  FitData data{BatchSource(weighedByClass(*this, split.train, args.class_weight), args.batch_size),
               validationOf(args, split.validation),
               {}};
  History history;
  history.rep_ = fitLoop(std::move(run), std::move(data), args);
  return history;
}

History Model::fit(const Dataset &dataset, const FitArgs &args) const {
  Run run(*this, "using the model's `fit()`");
  if (!args.sample_weight.empty())
    refuseWeights(*this);
  if (args.validation_split != 0.0 && !args.validation_data.defined())
    throw Error(ErrorKind::value_error,
                "Argument `validation_split` is only supported for arrays, not for a Dataset: give `validation_data`",
                name());
  History history;
  history.rep_ =
      fitLoop(std::move(run), {BatchSource(dataset), validationOf(args, std::nullopt), args.class_weight}, args);
  return history;
}

static Logs evaluateOn(const Run &run, const BatchSource &batches, const EvaluateArgs args) {
  EpochReader reader(batches, false, args.steps, "steps");
  prepare(run, batches, run.compiled->test);
  CallbackList callbacks(run.model, args.callbacks, {args.verbose, 0, reader.steps()});
  return runTest(run, batches, reader, callbacks);
}
Logs Model::evaluate(const Tensors &x, const Tensors &y, const EvaluateArgs &args) const {
  Run run(*this, "using the model's `evaluate()`");
  return evaluateOn(run, BatchSource({x, y, args.sample_weight}, args.batch_size), args);
}
Logs Model::evaluate(const Dataset &dataset, const EvaluateArgs &args) const {
  Run run(*this, "using the model's `evaluate()`");
  if (!args.sample_weight.empty())
    refuseWeights(*this);
  return evaluateOn(run, BatchSource(dataset), args);
}

static Tensors predictOn(const Model model, const Tensors &x, const PredictArgs args) {
  BatchSource batches({TensorAccess::named(orderedInputs(model, x), {}), {}, {}}, args.batch_size);
  EpochReader reader(batches, false, args.steps, "steps");
  CallbackList callbacks(model, args.callbacks, {args.verbose, 0, reader.steps()});
  std::shared_ptr<CompiledFunction> program = predictFunction(model);
  std::vector<std::vector<Tensor>> parts;
  EpochReader::Epoch epoch = reader.epoch([&](int64_t i, const Batch &batch) {
    std::vector<Tensor> outputs = program->run({batch.x.begin(), batch.x.end()});
    parts.resize(outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o)
      parts[o].push_back(outputs[o]);
    callbacks.predictBatchEnd(i);
    return true;
  });
  warnWhenOut(epoch, reader, "prediction");
  callbacks.predictEnd();
  std::vector<Tensor> whole;
  for (const std::vector<Tensor> &pieces : parts)
    whole.push_back(TensorAccess::onHost(concatenateRows(pieces)));
  const std::vector<std::string> &names = stateOf(model).outputNames;
  return TensorAccess::named(whole, names.size() == whole.size() ? names : std::vector<std::string>{});
}
Tensors Model::predict_all(const Tensors &x, const PredictArgs &args) const { return predictOn(*this, x, args); }
Tensor Model::predict(const Tensors &x, const PredictArgs &args) const {
  const Model model = *this;
  if (stateOf(model).outputs.size() > 1)
    throw Error(ErrorKind::value_error, "the model has several outputs: use predict_all()", model.name());
  Tensors all = predictOn(model, x, args);
  if (all.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", all.size()),
                model.name());
  return all[0];
}
Tensor Model::predict_on_batch(const Tensors &x) const {
  const Model model = *this;
  std::vector<Tensor> outputs = predictFunction(model)->run(orderedInputs(model, x));
  if (outputs.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", outputs.size()),
                model.name());
  return outputs[0];
}

static Logs onBatch(const Run &run, const Tensors &x, const Tensors &y, const BatchArgs &args,
                    StepResult (&step)(const Run &, const Batch &, bool)) {
  Batch batch = weighedByClass(run.model, {x, y, args.sample_weight}, args.class_weight);
  if (checkRows(batch) == 0)
    throw Error(ErrorKind::value_error, "no data was given: the batch has 0 samples", run.model.name());
  resetMetrics(*run.compiled);
  return step(run, batch, false).logs;
}
Logs Model::train_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch({*this, "using the model's `train_on_batch()`"}, x, y, args, trainStep);
}
Logs Model::test_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch({*this, "using the model's `test_on_batch()`"}, x, y, args, testStep);
}

std::vector<double> History::operator[](std::string_view key) const {
  if (rep_)
    for (const auto &[name, values] : rep_->values)
      if (name == key)
        return values;
  throw Error(ErrorKind::key_error,
              fmt::format("no '{}' in the history; there are [{}]", key, fmt::join(keys(), ", ")));
}
std::vector<std::string> History::keys() const {
  std::vector<std::string> names;
  if (rep_)
    for (const auto &[name, values] : rep_->values)
      names.push_back(name);
  return names;
}
std::vector<int64_t> History::epoch() const { return rep_ ? rep_->epochs : std::vector<int64_t>(); }

} // namespace halftone
