// The value in the logs that a callback watches, and whether it became better.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <optional>
#include <string>

namespace halftone::detail {

class Monitor {
public:
  /// Keras's automatic mode maximizes values whose names hold "acc" or "auc" and minimizes all others. `minDelta` is
  /// not negative.
  Monitor(std::string name, MonitorMode mode, double minDelta);
  /// The watched value in `logs`. If `logs` do not have it, the callback does nothing in this epoch, as in Keras; the
  /// first time a warning names `what` and the values that `logs` have.
  std::optional<double> valueIn(const Logs &logs, const char *what);
  /// Whether `value` is better than `than` by more than minDelta.
  bool isBetter(double value, double than) const;
  bool exceeds(double value, double than) const; // without minDelta
  double worst() const;

private:
  std::string name_;
  bool maximize_;
  double minDelta_;
  bool warned_ = false;
};

} // namespace halftone::detail
