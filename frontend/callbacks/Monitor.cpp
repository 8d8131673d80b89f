// What callbacks watch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/Monitor.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <limits>

namespace halftone::detail {

Monitor::Monitor(std::string name, MonitorMode mode, double minDelta)
    : name_(std::move(name)), maximize_(mode == MonitorMode::max ||
                                        (mode == MonitorMode::automatic && (name_.find("acc") != std::string::npos ||
                                                                            name_.find("auc") != std::string::npos))),
      minDelta_(minDelta) {}
double Monitor::valueIn(const Logs &logs, const char *what) const {
  if (!logs.contains(name_))
    throw Error(ErrorKind::value_error,
                fmt::format("{} conditioned on metric `{}` which is not available. Available metrics are: {}", what,
                            name_, logs.str()));
  return logs[name_];
}
bool Monitor::isBetter(double value, double than) const {
  return maximize_ ? value - minDelta_ > than : value + minDelta_ < than;
}
bool Monitor::exceeds(double value, double than) const { return maximize_ ? value > than : value < than; }
double Monitor::worst() const {
  double infinity = std::numeric_limits<double>::infinity();
  return maximize_ ? -infinity : infinity;
}

} // namespace halftone::detail
