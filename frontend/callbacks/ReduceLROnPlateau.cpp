// ReduceLROnPlateau: reduces the learning rate when a value stops improving.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/callbacks/Monitor.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::callbacks {

struct ReduceLROnPlateau::State {
  explicit State(const ReduceLROnPlateauArgs &args) : monitor(args.monitor, args.mode, args.min_delta) {}
  detail::Monitor monitor;
  std::optional<double> best{};
  int64_t wait = 0, cooldown = 0;
};

ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauArgs args)
    : args_(std::move(args)), state_(std::make_shared<State>(args_)) {
  if (args_.factor >= 1.0)
    throw Error(ErrorKind::value_error,
                fmt::format("ReduceLROnPlateau does not support a factor >= 1.0. Received factor={}", args_.factor));
}

void ReduceLROnPlateau::on_train_begin(const Logs &) { detail::held(state_) = State(args_); }

void ReduceLROnPlateau::on_epoch_end(int64_t epoch, Logs &logs) {
  State &state = detail::held(state_);
  const Optimizer optimizer = model().optimizer();
  double rate = optimizer.learning_rate();
  logs.set("learning_rate", rate);
  const std::optional<double> found = state.monitor.valueIn(logs, model(), "Learning rate reduction is");
  if (!found)
    return;
  const double value = *found;
  if (state.cooldown > 0) {
    state.cooldown -= 1;
    state.wait = 0;
  }
  if (state.monitor.isBetter(value, state.best)) {
    state.best = value;
    state.wait = 0;
  } else if (state.cooldown == 0 && ++state.wait >= args_.patience && rate > static_cast<float>(args_.min_lr)) {
    rate = std::max(rate * args_.factor, args_.min_lr);
    optimizer.set_learning_rate(rate);
    if (args_.verbose > 0)
      detail::writeOutput(
          fmt::format("\nEpoch {}: ReduceLROnPlateau reducing learning rate to {}.\n", epoch + 1, pythonRepr(rate)));
    state.cooldown = args_.cooldown;
    state.wait = 0;
  }
}

} // namespace halftone::callbacks
