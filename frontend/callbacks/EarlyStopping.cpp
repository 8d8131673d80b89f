// EarlyStopping: ends training when a value stops improving.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Model.h"
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace halftone::callbacks {

struct EarlyStopping::State {
  bool maximize = false;
  double best = 0.0;
  int64_t wait = 0, bestEpoch = 0;
  std::vector<Tensor> bestWeights;
};

EarlyStopping::EarlyStopping(EarlyStoppingArgs args) : args_(std::move(args)), state_(std::make_shared<State>()) {
  args_.min_delta = std::abs(args_.min_delta);
}

void EarlyStopping::on_train_begin(const Logs &) {
  *state_ = State();
  // Keras: names that end like accuracies are maximized, everything else is minimized.
  const std::string &name = args_.monitor;
  state_->maximize = args_.mode == MonitorMode::max ||
                     (args_.mode == MonitorMode::automatic &&
                      (name.find("acc") != std::string::npos || name.find("auc") != std::string::npos));
  double worst = std::numeric_limits<double>::infinity();
  state_->best = args_.baseline.value_or(state_->maximize ? -worst : worst);
  stopped_epoch_ = 0;
}

void EarlyStopping::on_epoch_end(int64_t epoch, Logs &logs) {
  if (!logs.contains(args_.monitor))
    throw Error(
        ErrorKind::value_error,
        fmt::format("Early stopping conditioned on metric `{}` which is not available. Available metrics are: {}",
                    args_.monitor, logs.str()));
  if (epoch < args_.start_from_epoch)
    return;
  double value = logs[args_.monitor];
  if (args_.restore_best_weights && state_->bestWeights.empty()) {
    state_->bestWeights = model().get_weights();
    state_->bestEpoch = epoch;
  }
  state_->wait += 1;
  bool better = state_->maximize ? value - args_.min_delta > state_->best : value + args_.min_delta < state_->best;
  if (better) {
    state_->best = value;
    state_->bestEpoch = epoch;
    if (args_.restore_best_weights)
      state_->bestWeights = model().get_weights();
    bool beatsBaseline = !args_.baseline || (state_->maximize ? value > *args_.baseline : value < *args_.baseline);
    if (beatsBaseline)
      state_->wait = 0;
    return;
  }
  if (state_->wait >= args_.patience && epoch > 0) {
    stopped_epoch_ = epoch;
    model().stop_training();
  }
}

void EarlyStopping::on_train_end(const Logs &) {
  if (args_.restore_best_weights && !state_->bestWeights.empty())
    model().set_weights(state_->bestWeights);
}

} // namespace halftone::callbacks
