// The logged value that a callback watches, and whether it has improved.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <optional>
#include <string>

namespace halftone::detail {

class Monitor {
public:
  /// `minDelta` must not be negative.
  Monitor(std::string name, MonitorMode mode, double minDelta);
  /// The watched value in `logs`. If `logs` does not have it, the callback does nothing in this epoch, as in Keras; the
  /// first time, a warning names `what` and the values that are available. In automatic mode the first value decides
  /// the direction of improvement: a loss decreases, and a compiled metric follows Keras's rule for its class.
  /// value_error for any other value.
  std::optional<double> valueIn(const Logs &logs, const Model &model, const char *what);
  /// Returns true if `value` improves on `than` by more than minDelta. As in Keras, any value improves on none.
  bool isBetter(double value, std::optional<double> than) const;

private:
  void choose(const Model &model);

  std::string name_;
  std::optional<bool> maximize_; // empty until automatic mode has chosen
  double minDelta_;
  bool warned_ = false;
};

[[noreturn]] void refuseMoved(); // throws value_error: the callback was moved from
/// The state of a callback during a run. value_error if the callback was moved from.
template <class State> State &held(const std::shared_ptr<State> &state) {
  if (!state)
    refuseMoved();
  return *state;
}

} // namespace halftone::detail
