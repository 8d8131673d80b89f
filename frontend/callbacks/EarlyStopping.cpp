// EarlyStopping: ends training when a value stops improving.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/callbacks/Monitor.h"
#include "halftone/Model.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::callbacks {

struct EarlyStopping::State {
  explicit State(const EarlyStoppingArgs &args) : monitor(args.monitor, args.mode, args.min_delta) {}
  detail::Monitor monitor;
  std::optional<double> best{};
  int64_t wait = 0, bestEpoch = 0;
  std::vector<Tensor> bestWeights;
};

EarlyStopping::EarlyStopping(EarlyStoppingArgs args) : args_(std::move(args)) {
  args_.min_delta = std::abs(args_.min_delta);
  state_ = std::make_shared<State>(args_);
}

void EarlyStopping::on_train_begin(const Logs &) {
  detail::held(state_) = State(args_);
  stopped_epoch_ = 0;
}

void EarlyStopping::on_epoch_end(int64_t epoch, Logs &logs) {
  const std::optional<double> found = detail::held(state_).monitor.valueIn(logs, model(), "Early stopping");
  if (!found || epoch < args_.start_from_epoch)
    return;
  const double value = *found;
  if (args_.restore_best_weights && detail::held(state_).bestWeights.empty()) {
    detail::held(state_).bestWeights = model().get_weights();
    detail::held(state_).bestEpoch = epoch;
  }
  detail::held(state_).wait += 1;
  if (detail::held(state_).monitor.isBetter(value, detail::held(state_).best)) {
    detail::held(state_).best = value;
    detail::held(state_).bestEpoch = epoch;
    if (args_.restore_best_weights)
      detail::held(state_).bestWeights = model().get_weights();
    if (detail::held(state_).monitor.isBetter(value, args_.baseline))
      detail::held(state_).wait = 0;
    return;
  }
  if (detail::held(state_).wait >= args_.patience && epoch > 0) {
    stopped_epoch_ = epoch;
    model().stop_training();
  }
}

void EarlyStopping::on_train_end(const Logs &) {
  if (stopped_epoch_ > 0 && args_.verbose > 0)
    detail::writeOutput(fmt::format("Epoch {}: early stopping\n", stopped_epoch_ + 1));
  if (!args_.restore_best_weights || detail::held(state_).bestWeights.empty())
    return;
  if (args_.verbose > 0)
    detail::writeOutput(fmt::format("Restoring model weights from the end of the best epoch: {}.\n",
                                    detail::held(state_).bestEpoch + 1));
  model().set_weights(detail::held(state_).bestWeights);
}

} // namespace halftone::callbacks
