// TerminateOnNaN, LearningRateScheduler and LambdaCallback.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/callbacks/Monitor.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include "runtime/policy/PythonText.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::callbacks {

TerminateOnNaN::TerminateOnNaN(bool raise_error) : raise_error_(raise_error) {}
void TerminateOnNaN::on_train_batch_end(int64_t batch, const Logs &logs) {
  if (!logs.contains("loss") || std::isfinite(logs["loss"]))
    return;
  if (raise_error_)
    throw Error(ErrorKind::runtime_error, fmt::format("NaN or Inf loss encountered at batch {}.", batch));
  detail::writeOutput(fmt::format("Batch {}: Invalid loss, terminating training\n", batch));
  model().stop_training();
}

LearningRateScheduler::LearningRateScheduler(std::function<double(int64_t, double)> schedule, int64_t verbose)
    : schedule_(std::move(schedule)), verbose_(verbose) {
  if (!schedule_)
    throw Error(ErrorKind::value_error, "LearningRateScheduler needs a schedule(epoch, learning_rate)");
}
void LearningRateScheduler::on_epoch_begin(int64_t epoch, const Logs &) {
  if (!schedule_)
    detail::refuseMoved();
  double rate = schedule_(epoch, model().optimizer().learning_rate());
  if (!std::isfinite(rate))
    throw Error(ErrorKind::value_error,
                fmt::format("The output of the `schedule` function should be a finite float. Got: {}", rate));
  model().optimizer().set_learning_rate(rate);
  if (verbose_ > 0)
    detail::writeOutput(
        fmt::format("\nEpoch {}: LearningRateScheduler setting learning rate to {}.\n", epoch + 1, pythonRepr(rate)));
}
void LearningRateScheduler::on_epoch_end(int64_t, Logs &logs) {
  logs.set("learning_rate", model().optimizer().learning_rate());
}

/// Calls a callback function with the arguments if it is set.
template <class F, class... Args> static void callIfGiven(const F &f, Args &&...args) {
  if (f)
    f(args...);
}

LambdaCallback::LambdaCallback(LambdaCallbackArgs args) : args_(std::move(args)) {}
void LambdaCallback::on_epoch_begin(int64_t epoch, const Logs &logs) { callIfGiven(args_.on_epoch_begin, epoch, logs); }
void LambdaCallback::on_epoch_end(int64_t epoch, Logs &logs) { callIfGiven(args_.on_epoch_end, epoch, logs); }
void LambdaCallback::on_train_begin(const Logs &logs) { callIfGiven(args_.on_train_begin, logs); }
void LambdaCallback::on_train_end(const Logs &logs) { callIfGiven(args_.on_train_end, logs); }
void LambdaCallback::on_train_batch_begin(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_train_batch_begin, batch, logs);
}
void LambdaCallback::on_train_batch_end(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_train_batch_end, batch, logs);
}
void LambdaCallback::on_test_begin(const Logs &logs) { callIfGiven(args_.on_test_begin, logs); }
void LambdaCallback::on_test_end(const Logs &logs) { callIfGiven(args_.on_test_end, logs); }
void LambdaCallback::on_test_batch_begin(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_test_batch_begin, batch, logs);
}
void LambdaCallback::on_test_batch_end(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_test_batch_end, batch, logs);
}
void LambdaCallback::on_predict_begin(const Logs &logs) { callIfGiven(args_.on_predict_begin, logs); }
void LambdaCallback::on_predict_end(const Logs &logs) { callIfGiven(args_.on_predict_end, logs); }
void LambdaCallback::on_predict_batch_begin(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_predict_batch_begin, batch, logs);
}
void LambdaCallback::on_predict_batch_end(int64_t batch, const Logs &logs) {
  callIfGiven(args_.on_predict_batch_end, batch, logs);
}

} // namespace halftone::callbacks
