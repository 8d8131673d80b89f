// fit, evaluate, predict and the *_on_batch calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/CallbackList.h"
#include "frontend/ModelState.h"
#include "frontend/OptimizerImpl.h"
#include "frontend/RandomSeeds.h"
#include "frontend/io/Batches.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace halftone {
using namespace detail;

struct History::Rep {
  std::vector<std::pair<std::string, std::vector<double>>> values;
  std::vector<int64_t> epochs;
};

namespace {

std::vector<Tensor> targetsInOrder(const Model &model, const Tensors &y) {
  const std::vector<std::string> &names = stateOf(model).outputNames;
  if (y.names().empty() || names.empty())
    return {y.begin(), y.end()};
  std::vector<Tensor> ordered;
  for (const std::string &name : names)
    ordered.push_back(y[name]);
  return ordered;
}

Tensor weightsByClass(const Tensor &y, const std::map<int64_t, double> &byClass) {
  Tensor labels = y.shape().rank() > 1 && y.shape()[-1] > 1 ? y.argmax() : y.astype(DType::int64);
  std::vector<float> weights;
  for (int64_t label : labels.to_vector<int64_t>()) {
    auto found = byClass.find(label);
    weights.push_back(found == byClass.end() ? 1.0f : static_cast<float>(found->second));
  }
  int64_t rows = static_cast<int64_t>(weights.size());
  return Tensor(std::move(weights), {rows});
}

/// class_weight as one weight per sample. Of several outputs it weighs those whose targets are integers.
Tensors sampleWeights(const Model &model, const Tensors &y, const Tensors &sampleWeight,
                      const std::vector<std::pair<int64_t, double>> &classWeight) {
  if (classWeight.empty())
    return sampleWeight;
  if (!sampleWeight.empty())
    throw Error(ErrorKind::value_error, "You cannot `class_weight` and `sample_weight` at the same time.",
                model.name());
  std::map<int64_t, double> byClass(classWeight.begin(), classWeight.end());
  if (y.size() == 1)
    return weightsByClass(y[0], byClass);
  std::vector<Tensor> weights;
  bool haveClasses = false;
  for (const Tensor &target : targetsInOrder(model, y)) {
    bool isClass = !is_float(target.dtype());
    haveClasses |= isClass;
    weights.push_back(isClass ? weightsByClass(target, byClass) : Tensor::ones({target.shape()[0]}));
  }
  if (!haveClasses)
    throw Error(ErrorKind::value_error,
                "`class_weight` of a model with several outputs is for those with integer targets; there is none.",
                model.name());
  return Tensors(std::move(weights));
}

struct Feeds {
  std::vector<Tensor> tensors;
  std::string variant;
};
/// A batch as feeds of the train and test programs. Compiled state and, unless they were before, labels are checked
/// first.
Feeds feedsOf(const Model &model, const Batch &batch, bool labelsChecked) {
  checkRows(batch);
  std::vector<Tensor> x = orderedInputs(model, batch.x), y = targetsInOrder(model, batch.y);
  prepareCompiled(model, x, y);
  const CompiledModel &compiled = compiledOf(model, "training or evaluating the model");
  for (size_t i = 0; i < compiled.losses.size(); ++i)
    if (compiled.losses[i].defined() && i >= y.size())
      throw Error(
          ErrorKind::value_error,
          fmt::format("Target data is missing: the model was compiled with a loss for output {}, but y has {} tensors",
                      i, y.size()),
          model.name());
  if (!labelsChecked)
    checkTargets(model, y);
  Feeds feeds{x, feedVariant(y.size(), batch.sample_weight.size())};
  feeds.tensors.insert(feeds.tensors.end(), y.begin(), y.end());
  feeds.tensors.insert(feeds.tensors.end(), batch.sample_weight.begin(), batch.sample_weight.end());
  return feeds;
}

/// Where batches come from: arrays cut into rows, or a dataset of batches.
class Batches {
public:
  Batches(Batch arrays, int64_t batchSize) : arrays_(std::move(arrays)), batchSize_(batchSize) {
    rows_ = checkRows(arrays_);
    if (rows_ == 0)
      throw Error(ErrorKind::value_error, "no data was given: the arrays have 0 samples");
    if (batchSize_ < 1)
      throw Error(ErrorKind::value_error, fmt::format("batch_size must be positive, got {}", batchSize_));
  }
  explicit Batches(Dataset dataset) : dataset_(std::move(dataset)) {}

  /// Arrays are checked whole, before the first step changes anything; a dataset's batches as they come.
  bool areArrays() const { return !dataset_; }
  const Batch &arrays() const { return arrays_; }
  std::optional<int64_t> steps() const {
    return dataset_ ? dataset_->cardinality() : std::optional((rows_ + batchSize_ - 1) / batchSize_);
  }
  /// One pass; `limit` batches at most.
  void each(bool shuffle, std::optional<int64_t> limit,
            const std::function<bool(int64_t, const Batch &)> &visit) const {
    int64_t step = 0;
    if (dataset_) {
      for (const Batch &batch : *dataset_)
        if ((limit && step >= *limit) || !visit(step++, batch))
          return;
      if (step == 0)
        throw Error(ErrorKind::value_error, "no data was given: the dataset is empty");
      return;
    }
    std::vector<int64_t> order(static_cast<size_t>(rows_));
    std::iota(order.begin(), order.end(), 0);
    if (shuffle)
      ShuffleOrder(nextSeed()).shuffle(order);
    for (int64_t begin = 0; begin < rows_ && !(limit && step >= *limit); begin += batchSize_) {
      auto rows = std::span(order).subspan(static_cast<size_t>(begin),
                                           static_cast<size_t>(std::min(batchSize_, rows_ - begin)));
      if (!visit(step++, gatherBatch(arrays_, rows)))
        return;
    }
  }
  /// The first batch and, of arrays, the last when it is smaller.
  std::vector<Batch> shapes() const {
    std::vector<Batch> result;
    if (dataset_)
      return result;
    auto rows = [&](int64_t count) {
      std::vector<int64_t> first(static_cast<size_t>(count));
      std::iota(first.begin(), first.end(), 0);
      result.push_back(gatherBatch(arrays_, first));
    };
    rows(std::min(batchSize_, rows_));
    if (rows_ > batchSize_ && rows_ % batchSize_)
      rows(rows_ % batchSize_);
    return result;
  }

private:
  Batch arrays_;
  int64_t batchSize_ = 0, rows_ = 0;
  std::optional<Dataset> dataset_;
};

void prepare(const Model &model, const Batches &batches, CompiledFunction &(*program)(const Layer &)) {
  if (batches.areArrays()) {
    std::vector<Tensor> y = targetsInOrder(model, batches.arrays().y);
    prepareCompiled(model, orderedInputs(model, batches.arrays().x), y);
    checkTargets(model, y);
  }
  for (const Batch &batch : batches.shapes()) {
    Feeds feeds = feedsOf(model, batch, true);
    program(model).prepare(typesOf(feeds.tensors), feeds.variant);
  }
}

void step(const Model &model, const Batch &batch, CompiledFunction &(*program)(const Layer &), bool remember,
          bool labelsChecked) {
  Feeds feeds = feedsOf(model, batch, labelsChecked);
  program(model).run(feeds.tensors, feeds.variant);
  if (remember) {
    stateOf(model).lastTrainTypes = typesOf(feeds.tensors);
    stateOf(model).lastTrainVariant = feeds.variant;
  }
}

Logs runTest(const Model &model, const Batches &batches, std::optional<int64_t> steps, CallbackList &callbacks) {
  CompiledModel &compiled = compiledOf(model, "using the model's `evaluate()`");
  resetMetrics(compiled);
  callbacks.testBegin();
  Logs logs;
  batches.each(false, steps, [&](int64_t i, const Batch &batch) {
    step(model, batch, testFunction, false, batches.areArrays());
    logs = currentLogs(compiled);
    callbacks.testBatchEnd(i, logs);
    return true;
  });
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
  void stepped(int64_t epoch, int64_t step) {
    if (!optimizer_ || !isStalled(*optimizer_))
      return;
    const optimizers::LossScaleState state = optimizer_->state();
    writeOutput(fmt::format("\nwarning: loss scaling skipped {} steps in a row, up to step {} of epoch {}: their "
                            "gradients were not finite, in the last one first that of '{}', and the weights have not "
                            "changed since. The loss scale is now {}. Look for infinities and NaN in the data, the "
                            "loss and the weights.\n",
                            state.stalled_steps, step + 1, epoch + 1, state.last_fault, state.scale));
    optimizer_.reset();
  }

private:
  std::optional<optimizers::LossScaleOptimizer> optimizer_; // empty once it was said
};

struct SplitData {
  Batch train;
  std::optional<Batch> validation;
};
SplitData splitData(const Batch &all, double share) {
  if (share == 0.0)
    return {all, std::nullopt};
  int64_t rows = checkRows(all), kept = static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1.0 - share)));
  if (!(share > 0.0 && share < 1.0) || kept == 0 || kept == rows)
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

} // namespace

/// The loop behind both forms of fit.
static void fitLoop(const Model &model, const Batches &batches, const std::optional<Batches> &validation,
                    const FitArgs &args, const std::function<void(int64_t, const Logs &)> &record) {
  CompiledModel &compiled = compiledOf(model, "using the model's `fit()`");
  ModelState &state = stateOf(model);
  if (args.epochs < 0 || args.initial_epoch < 0 || args.validation_freq < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("epochs, initial_epoch and validation_freq must not be negative, got {}, {} and {}",
                            args.epochs, args.initial_epoch, args.validation_freq),
                model.name());
  // Everything is compiled before the first step: train and validation, whole and last batches.
  prepare(model, batches, trainFunction);
  if (validation)
    prepare(model, *validation, testFunction);
  std::optional<int64_t> steps = args.steps_per_epoch ? args.steps_per_epoch : batches.steps();
  CallbackList callbacks(model, args.callbacks, {args.verbose, args.epochs, steps});
  StallAlarm alarm(compiled.optimizer);
  state.stopTraining = false;
  callbacks.trainBegin();
  Logs logs;
  for (int64_t epoch = args.initial_epoch; epoch < args.epochs && !state.stopTraining; ++epoch) {
    logs = Logs();
    resetMetrics(compiled);
    callbacks.epochBegin(epoch);
    batches.each(args.shuffle, args.steps_per_epoch, [&](int64_t i, const Batch &batch) {
      callbacks.trainBatchBegin(i);
      step(model, batch, trainFunction, true, batches.areArrays());
      alarm.stepped(epoch, i);
      logs = currentLogs(compiled);
      callbacks.trainBatchEnd(i, logs);
      return !state.stopTraining;
    });
    if (validation && (epoch + 1) % args.validation_freq == 0) {
      Logs found = runTest(model, *validation, args.validation_steps, callbacks);
      for (const auto &[name, value] : found)
        logs.set("val_" + name, value);
    }
    callbacks.epochEnd(epoch, logs);
    record(epoch, logs);
  }
  compiled.optimizer.finalize_variable_values(model.trainable_variables());
  callbacks.trainEnd(logs);
}

static void recordEpoch(History::Rep &rep, int64_t epoch, const Logs &logs) {
  rep.epochs.push_back(epoch);
  for (const auto &[name, value] : logs) {
    auto found =
        std::find_if(rep.values.begin(), rep.values.end(), [&](const auto &entry) { return entry.first == name; });
    if (found == rep.values.end())
      found = rep.values.insert(rep.values.end(), {name, {}});
    found->second.push_back(value);
  }
}

static std::optional<Batches> validationOf(const FitArgs &args, const std::optional<Batch> &split,
                                           int64_t defaultBatch) {
  int64_t size = args.validation_batch_size.value_or(defaultBatch);
  if (split)
    return Batches(*split, size);
  if (!args.validation_data.defined())
    return std::nullopt;
  if (args.validation_data.dataset())
    return Batches(*args.validation_data.dataset());
  return Batches(args.validation_data.arrays(), size);
}

History Model::fit(const Tensors &x, const Tensors &y, const FitArgs &args) const {
  compiledOf(*this, "using the model's `fit()`");
  SplitData data = splitData({x, y, sampleWeights(*this, y, args.sample_weight, args.class_weight)},
                             args.validation_data.defined() ? 0.0 : args.validation_split);
  History history;
  history.rep_ = std::make_shared<History::Rep>();
  fitLoop(*this, Batches(data.train, args.batch_size), validationOf(args, data.validation, args.batch_size), args,
          [&](int64_t epoch, const Logs &logs) { recordEpoch(*history.rep_, epoch, logs); });
  return history;
}

History Model::fit(const Dataset &dataset, const FitArgs &args) const {
  if (args.validation_split != 0.0 || !args.class_weight.empty() || !args.sample_weight.empty())
    throw Error(ErrorKind::value_error,
                "`validation_split`, `class_weight` and `sample_weight` are for arrays; a dataset's batches carry "
                "their weights",
                name());
  History history;
  history.rep_ = std::make_shared<History::Rep>();
  fitLoop(*this, Batches(dataset), validationOf(args, std::nullopt, args.batch_size), args,
          [&](int64_t epoch, const Logs &logs) { recordEpoch(*history.rep_, epoch, logs); });
  return history;
}

Logs Model::evaluate(const Tensors &x, const Tensors &y, const EvaluateArgs &args) const {
  compiledOf(*this, "using the model's `evaluate()`");
  Batches batches({x, y, args.sample_weight}, args.batch_size);
  prepare(*this, batches, testFunction);
  CallbackList callbacks(*this, args.callbacks, {args.verbose, 0, args.steps ? args.steps : batches.steps()});
  return runTest(*this, batches, args.steps, callbacks);
}
Logs Model::evaluate(const Dataset &dataset, const EvaluateArgs &args) const {
  CallbackList callbacks(*this, args.callbacks, {args.verbose, 0, args.steps ? args.steps : dataset.cardinality()});
  return runTest(*this, Batches(dataset), args.steps, callbacks);
}

Tensors Model::predict_all(const Tensors &x, const PredictArgs &args) const {
  Batches batches({TensorAccess::named(orderedInputs(*this, x), {}), {}, {}}, args.batch_size);
  CallbackList callbacks(*this, args.callbacks, {args.verbose, 0, args.steps ? args.steps : batches.steps()});
  std::vector<std::vector<Tensor>> parts;
  batches.each(false, args.steps, [&](int64_t i, const Batch &batch) {
    std::vector<Tensor> outputs = predictFunction(*this).run({batch.x.begin(), batch.x.end()});
    parts.resize(outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o)
      parts[o].push_back(outputs[o]);
    callbacks.predictBatchEnd(i);
    return true;
  });
  callbacks.predictEnd();
  std::vector<Tensor> whole;
  for (const std::vector<Tensor> &pieces : parts)
    whole.push_back(concatenateRows(pieces));
  const std::vector<std::string> &names = stateOf(*this).outputNames;
  return TensorAccess::named(whole, names.size() == whole.size() ? names : std::vector<std::string>{});
}
Tensor Model::predict(const Tensors &x, const PredictArgs &args) const {
  if (stateOf(*this).outputs.size() > 1)
    throw Error(ErrorKind::value_error, "the model has several outputs: use predict_all()", name());
  Tensors all = predict_all(x, args);
  if (all.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", all.size()), name());
  return all[0];
}
Tensor Model::predict_on_batch(const Tensors &x) const {
  std::vector<Tensor> outputs = predictFunction(*this).run(orderedInputs(*this, x));
  if (outputs.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", outputs.size()),
                name());
  return outputs[0];
}

static Logs onBatch(const Model &model, const Tensors &x, const Tensors &y, const BatchArgs &args,
                    CompiledFunction &(*program)(const Layer &), bool train) {
  CompiledModel &compiled =
      compiledOf(model, train ? "using the model's `train_on_batch()`" : "using the model's `test_on_batch()`");
  Batch batch{x, y, sampleWeights(model, y, args.sample_weight, args.class_weight)};
  if (checkRows(batch) == 0)
    throw Error(ErrorKind::value_error, "no data was given: the batch has 0 samples", model.name());
  resetMetrics(compiled);
  step(model, batch, program, train, false);
  return currentLogs(compiled);
}
Logs Model::train_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch(*this, x, y, args, trainFunction, true);
}
Logs Model::test_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args) const {
  return onBatch(*this, x, y, args, testFunction, false);
}

std::vector<double> History::operator[](std::string_view key) const {
  for (const auto &[name, values] : rep_->values)
    if (name == key)
      return values;
  throw Error(ErrorKind::key_error,
              fmt::format("no '{}' in the history; there are [{}]", key, fmt::join(keys(), ", ")));
}
std::vector<std::string> History::keys() const {
  std::vector<std::string> names;
  for (const auto &[name, values] : rep_->values)
    names.push_back(name);
  return names;
}
std::vector<int64_t> History::epoch() const { return rep_->epochs; }

LossSpec::LossSpec(std::initializer_list<std::pair<std::string, Loss>> byName) {
  for (const auto &[name, loss] : byName) {
    names_.push_back(name);
    losses_.push_back(loss);
  }
}
MetricSpec::MetricSpec(std::initializer_list<std::pair<std::string, std::vector<Metric>>> byName) {
  for (const auto &[name, metrics] : byName)
    for (const Metric &metric : metrics) {
      names_.push_back(name);
      metrics_.push_back(metric);
    }
}

} // namespace halftone
