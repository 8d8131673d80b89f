// The value in the logs that a callback watches, and whether it became better.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <optional>
#include <string>

namespace halftone::detail {

class Monitor {
public:
  /// Keras's automatic mode: names that hold "acc" or "auc" are maximized, everything else is minimized. `minDelta` is
  /// not negative.
  Monitor(std::string name, MonitorMode mode, double minDelta);
  /// Of `logs`. When it is not among them there is nothing to watch in this epoch, as in Keras; the first time one
  /// warning says so, naming `what` and what there is.
  std::optional<double> valueIn(const Logs &logs, const char *what);
  /// By more than the least difference.
  bool isBetter(double value, double than) const;
  bool exceeds(double value, double than) const; // whatever the least difference
  double worst() const;

private:
  std::string name_;
  bool maximize_;
  double minDelta_;
  bool warned_ = false;
};

} // namespace halftone::detail
