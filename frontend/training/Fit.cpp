// fit: the loop over epochs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/training/CallFacts.h"
#include "frontend/training/CallbackList.h"
#include "frontend/training/Evaluate.h"
#include "frontend/training/FitProgress.h"
#include "frontend/training/HistoryRep.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/StallAlarm.h"
#include "frontend/training/Together.h"
#include "halftone/Callbacks.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
using namespace detail;

/// Compiles all programs before the first step: for training and validation, full and last batches.
static void compilePrograms(const Run &run, const FitData &data) {
  CompiledModel &compiled = *run.compiled;
  CallTransaction preparing(CallTransaction::Extent::program);
  if (processGroup() && distribution::distribution()->args().shard_optimizer_state)
    beginTogether(run.model, &compiled); // before each process drops all but its part
  splitState(compiled);
  prepare(run, data.train, true);
  if (data.validation)
    prepare(run, *data.validation, false);
  preparing.commit();
}

/// Adds the results of the validation data to the logs of an epoch, under names that begin with "val_".
static void validate(const Run &run, const BatchSource &source, const FitArgs &args, CallbackList &callbacks,
                     Logs &logs) {
  EpochReader reader(source, false, args.validation_steps, "validation_steps");
  for (const auto &[name, value] : runTest(run, source, std::move(reader), callbacks))
    logs.set("val_" + name, value);
}

/// Finalizes the weights if the run has updated them, or if it continues a restored checkpoint, whose averages it uses.
static void finalizeWeights(const Run &run, int64_t updatesBefore, bool isRestored) {
  Optimizer &optimizer = run.compiled->optimizer;
  if (optimizer.iterations() != updatesBefore || isRestored)
    optimizer.finalize_variable_values(run.model.trainable_variables());
}

namespace {

/// Periodically compares the weights of all processes, if the distribution requests it.
class WeightChecks {
public:
  WeightChecks(const Model &model, std::shared_ptr<ProcessGroup> group)
      : model_(model), group_(std::move(group)),
        every_(group_ ? distribution::distribution()->args().check_weights_every : 0) {}
  void stepped() {
    if (every_ > 0 && ++steps_ % every_ == 0)
      requireSameWeights(model_, *group_);
  }

private:
  const Model &model_;
  std::shared_ptr<ProcessGroup> group_;
  int64_t every_, steps_ = 0;
};

/// The objects of one fit() that its steps use.
struct FitParts {
  const Run &run;
  const FitData &data;
  EpochReader &reader;
  FitProgress &progress;
  CallbackList &callbacks;
  StallAlarm &alarm;
  WeightChecks &checks;
};

/// Trains for one epoch, or for the rest of an epoch that the restored run had begun. `logs` become those of its last
/// step.
EpochReader::Epoch trainEpoch(const FitParts &fit, int64_t epoch, Logs &logs) {
  const Run &run = fit.run;
  if (const std::optional<Logs> begun = fit.progress.logsOfBegun(epoch))
    logs = *begun;
  else
    resetMetrics(run);
  fit.callbacks.epochBegin(epoch);
  return fit.reader.epoch([&](int64_t i, const BatchPart &part) {
    fit.progress.beforeStep(part);
    fit.callbacks.trainBatchBegin(i);
    fit.alarm.look(); // before more work is queued that it would wait for
    const Batch batch = weighedByClass(run.model, part.batch, fit.data.classWeight);
    StepResult result = trainStep(run, {batch, part.rows, part.allRows, part.allTargets}, fit.data.train.areArrays());
    fit.checks.stepped();
    fit.alarm.stepped(epoch, i, result.skipped);
    logs = std::move(result.logs);
    fit.progress.stepped(i, logs);
    fit.callbacks.trainBatchEnd(i, logs);
    return !stateOf(run.model).stopTraining;
  });
}

} // namespace

/// The loop of both forms of fit. It takes copies of data and arguments, since a user's callback may destroy the
/// originals.
static std::shared_ptr<History::Rep> fitLoop(const Run &run, FitData data, FitArgs args) {
  const FloatMode mode;
  checkNumbers(run.model, args);
  CompiledModel &compiled = *run.compiled;
  ModelState &state = stateOf(run.model);
  EpochReader reader(data.train, args.shuffle, args.steps_per_epoch, "steps_per_epoch");
  const ProgressArgs shown{args.verbose, args.epochs, reader.steps()};
  compileBeforeRun(shown, [&] { compilePrograms(run, data); });
  reader.prepareAhead(hostStepsAhead(run.model, {run.compiled, &compiled.train}));
  FitProgress progress(run, data, reader);
  CallbackList callbacks(run.model, args.callbacks, shown);
  StallAlarm alarm(compiled.optimizer);
  auto history = std::make_shared<History::Rep>();
  state.stopTraining = false;
  state.finishedEpochs = args.initial_epoch;
  const int64_t updatesBefore = compiled.optimizer.iterations();
  const int64_t restoresBefore = state.restores;
  callbacks.trainBegin(); // may restore a checkpoint
  const bool isRestored = state.restores != restoresBefore;
  progress.resume(args, isRestored);
  const std::shared_ptr<ProcessGroup> group = processGroup();
  WeightChecks checks(run.model, group);
  beginTogether(run.model, &compiled);
  Logs logs, finished; // of the last step, and of the last epoch without additions by callbacks
  // A fit() on another thread also counts epochs of the model.
  const int64_t first = group || isRestored ? state.finishedEpochs.load() : args.initial_epoch;
  for (int64_t epoch = first; epoch < args.epochs; ++epoch) {
    EpochReader::Epoch seen = trainEpoch({run, data, reader, progress, callbacks, alarm, checks}, epoch, logs);
    if (epoch == first)
      requireBatches(seen);
    seen.isExhausted |= seen.steps == 0; // a stream that cannot restart
    warnWhenOut(seen, reader, "training");
    if (seen.steps == 0)
      break;
    if (data.validation && (epoch + 1) % args.validation_freq == 0)
      validate(run, *data.validation, args, callbacks, logs);
    state.finishedEpochs = epoch + 1;
    progress.epochEnded();
    finished = logs;
    callbacks.epochEnd(epoch, logs);
    meet(fmt::format("epoch {} has ended after {} steps, {}", epoch, seen.steps,
                     state.stopTraining ? "and training stops" : "training goes on"));
    history->record(epoch, logs);
    alarm.look();
    if (state.stopTraining)
      break;
  }
  finalizeWeights(run, updatesBefore, first != args.initial_epoch);
  callbacks.trainEnd(finished);
  const ForkSafeLock lock(state.mutex);
  state.history = history;
  return history;
}

History Model::fit(const Tensors &x, const Tensors &y, const FitArgs &args) const {
  const TogetherCall call("fit()");
  call.agree(*this, [&](std::vector<Fact> &facts) {
    addArgs(args, facts);
    addData(Batch{x, y, {}}, facts);
  });
  const Run run(*this, "using the model's `fit()`");
  checkNumbers(*this, args);
  FitData data = fitData(*this, Batch{x, y, args.sample_weight}, args);
  History history;
  history.rep_ = fitLoop(run, std::move(data), args);
  return history;
}

History Model::fit(const Dataset &dataset, const FitArgs &args) const {
  const TogetherCall call("fit()");
  call.agree(*this, [&](std::vector<Fact> &facts) {
    addArgs(args, facts);
    addData(dataset, facts);
  });
  const Run run(*this, "using the model's `fit()`");
  FitData data = fitData(*this, dataset, args);
  History history;
  history.rep_ = fitLoop(run, std::move(data), args);
  return history;
}

History Model::history() const {
  ModelState &state = stateOf(*this);
  History history;
  const ForkSafeLock lock(state.mutex);
  history.rep_ = state.history;
  return history;
}

} // namespace halftone
