// Calls callbacks in order, the progress bar last.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/CallbackList.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/Trainer.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <utility>

namespace halftone {

Callback::~Callback() = default;
void Callback::set_model(const Model &model) { model_ = std::make_shared<Model>(model); }
void Callback::clear_model() { model_.reset(); }
Model Callback::model() const {
  if (!model_)
    throw Error(ErrorKind::runtime_error, "a callback has a model only during fit, evaluate and predict");
  return *std::static_pointer_cast<Model>(model_);
}

CallbackParams Callback::params() const {
  if (!params_)
    throw Error(ErrorKind::runtime_error, "a callback has params only during fit, evaluate and predict");
  return *params_;
}

Callback &CallbackArg::none() {
  throw Error(ErrorKind::value_error,
              "a callback in `callbacks` is a null pointer, or a CallbackArg that was moved from");
}

namespace detail {

void compileBeforeRun(const ProgressArgs &progress, const std::function<void()> &compile) {
  ProgressBar bar(progress.verbose, progress.steps);
  const CompileWatch watch([&](size_t done, size_t count) { bar.compiling(done, count); });
  compile();
  bar.clear();
}

CallbackList::CallbackList(const Model &model, const std::vector<CallbackArg> &callbacks, const ProgressArgs &progress)
    : model_(model), compiled_(compiledIfAny(model)), wereAveragesExchanged_(areAveragesExchanged()),
      progress_(progress) {
  callbacks_.reserve(callbacks.size());
  for (const CallbackArg &callback : callbacks)
    callbacks_.emplace_back(callback, model,
                            CallbackParams{progress.epochs.value_or(1), progress.steps, progress.verbose});
  if (!progress_.epochs)
    bar_.emplace(progress_.verbose, progress_.steps);
  if (compiled_)
    stepsPerExecution_ = compiled_->args.steps_per_execution;
}
bool CallbackList::areAveragesExchanged() const { return compiled_ && compiled_->optimizer.impl()->areExchanged(); }
/// Releases the callbacks in reverse order, since a list may hold one callback twice.
CallbackList::~CallbackList() {
  try {
    if (areAveragesExchanged() && !wereAveragesExchanged_)
      compiled_->optimizer.impl()->exchangeAverages(model_.trainable_variables());
  } catch (const Error &) { // a device error, which the run has thrown too
  }
  while (!callbacks_.empty())
    callbacks_.pop_back();
}
CallbackList::BoundCallback::BoundCallback(const CallbackArg &given, const Model &model, const CallbackParams &params)
    : callback(given), modelBefore((*given).model_), paramsBefore((*given).params_) {
  try {
    (*callback).params_ = params;
    (*callback).set_model(model);
  } catch (...) {
    restore();
    throw;
  }
}
CallbackList::BoundCallback::BoundCallback(BoundCallback &&other) noexcept
    : callback(other.callback), modelBefore(std::move(other.modelBefore)), paramsBefore(other.paramsBefore),
      isBound(std::exchange(other.isBound, false)) {}
CallbackList::BoundCallback::~BoundCallback() {
  if (isBound)
    restore();
}
void CallbackList::BoundCallback::restore() noexcept {
  (*callback).model_ = modelBefore;
  (*callback).params_ = paramsBefore;
}
template <class F> void CallbackList::each(F f) {
  for (const BoundCallback &bound : callbacks_)
    f(*bound.callback);
}
/// If the number of steps was unknown, the first pass has counted them.
void CallbackList::finishBar(const Logs &logs) { progress_.steps = bar_->finish(logs); }
void CallbackList::trainBegin() {
  each([](Callback &c) { c.on_train_begin({}); });
}
void CallbackList::trainEnd(const Logs &logs) {
  each([&](Callback &c) { c.on_train_end(logs); });
}
void CallbackList::epochBegin(int64_t epoch) {
  each([&](Callback &c) { c.on_epoch_begin(epoch, {}); });
  if (progress_.verbose && progress_.epochs > 1)
    writeOutput(fmt::format("Epoch {}/{}\n", epoch + 1, *progress_.epochs));
  bar_.emplace(progress_.verbose, progress_.steps);
}
void CallbackList::epochEnd(int64_t epoch, Logs &logs) {
  endExecution();
  each([&](Callback &c) { c.on_epoch_end(epoch, logs); });
  finishBar(logs);
}
void CallbackList::stepEnd(int64_t step, const Logs &logs, End end) {
  execution_ = Execution{step, logs, end};
  if ((step + 1) % stepsPerExecution_ == 0)
    endExecution();
}
void CallbackList::endExecution() {
  if (!execution_)
    return;
  const Execution ended = *std::exchange(execution_, std::nullopt);
  const int64_t number = ended.lastStep / stepsPerExecution_ * stepsPerExecution_ + stepsPerExecution_ - 1;
  (this->*ended.end)(number, ended.logs);
  if (bar_ && (!progress_.epochs || ended.end == &CallbackList::trainExecutionEnd))
    bar_->update(ended.lastStep + 1, ended.logs);
}
void CallbackList::trainBatchBegin(int64_t batch) {
  if (beginsExecution(batch))
    each([&](Callback &c) { c.on_train_batch_begin(batch, {}); });
}
void CallbackList::trainBatchEnd(int64_t batch, const Logs &logs) {
  stepEnd(batch, logs, &CallbackList::trainExecutionEnd);
}
void CallbackList::trainExecutionEnd(int64_t number, const Logs &logs) {
  each([&](Callback &c) { c.on_train_batch_end(number, logs); });
}
void CallbackList::testBegin() {
  endExecution(); // the open execution is part of training; it ends before validation
  each([](Callback &c) { c.on_test_begin({}); });
}
void CallbackList::testBatchBegin(int64_t batch) {
  if (beginsExecution(batch))
    each([&](Callback &c) { c.on_test_batch_begin(batch, {}); });
}
void CallbackList::testBatchEnd(int64_t batch, const Logs &logs) {
  stepEnd(batch, logs, &CallbackList::testExecutionEnd);
}
void CallbackList::testExecutionEnd(int64_t number, const Logs &logs) {
  each([&](Callback &c) { c.on_test_batch_end(number, logs); });
}
void CallbackList::testEnd(const Logs &logs) {
  endExecution();
  each([&](Callback &c) { c.on_test_end(logs); });
  if (!progress_.epochs)
    finishBar(logs);
}
void CallbackList::predictBegin() {
  each([](Callback &c) { c.on_predict_begin({}); });
}
void CallbackList::predictBatchBegin(int64_t batch) {
  if (beginsExecution(batch))
    each([&](Callback &c) { c.on_predict_batch_begin(batch, {}); });
}
void CallbackList::predictBatchEnd(int64_t batch) { stepEnd(batch, {}, &CallbackList::predictExecutionEnd); }
void CallbackList::predictExecutionEnd(int64_t number, const Logs &) {
  each([&](Callback &c) { c.on_predict_batch_end(number, {}); });
}
void CallbackList::predictEnd() {
  endExecution();
  each([](Callback &c) { c.on_predict_end({}); });
  finishBar({});
}

} // namespace detail
} // namespace halftone
