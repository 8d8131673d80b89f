// The value in the logs that a callback watches, and whether it became better.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <optional>
#include <string>

namespace halftone::detail {

class Monitor {
public:
  /// `minDelta` is not negative.
  Monitor(std::string name, MonitorMode mode, double minDelta);
  /// The watched value in `logs`. If `logs` do not have it, the callback does nothing in this epoch, as in Keras; the
  /// first time a warning names `what` and the values that `logs` have. In the automatic mode the first value decides
  /// whether it is to rise or to fall: a loss falls, and a compiled metric does as Keras says of its class. value_error
  /// for any other value.
  std::optional<double> valueIn(const Logs &logs, const Model &model, const char *what);
  /// Whether `value` is better than `than` by more than minDelta. As in Keras, any value is better than none.
  bool isBetter(double value, std::optional<double> than) const;

private:
  void choose(const Model &model);

  std::string name_;
  std::optional<bool> maximize_; // empty until the automatic mode has chosen
  double minDelta_;
  bool warned_ = false;
};

[[noreturn]] void refuseMoved(); // throws the value_error for a callback that was moved from
/// What a callback keeps of a run. value_error if the callback was moved from.
template <class State> State &held(const std::shared_ptr<State> &state) {
  if (!state)
    refuseMoved();
  return *state;
}

} // namespace halftone::detail
