// Reads the value that a callback watches.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/Monitor.h"
#include "frontend/ProgressBar.h"
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace halftone::detail {

Monitor::Monitor(std::string name, MonitorMode mode, double minDelta)
    : name_(std::move(name)), maximize_(mode == MonitorMode::max ||
                                        (mode == MonitorMode::automatic && (name_.find("acc") != std::string::npos ||
                                                                            name_.find("auc") != std::string::npos))),
      minDelta_(minDelta) {}
std::optional<double> Monitor::valueIn(const Logs &logs, const char *what) {
  if (logs.contains(name_))
    return logs[name_];
  std::string names;
  for (const auto &[name, value] : logs)
    names += (names.empty() ? "" : ",") + name;
  if (!std::exchange(warned_, true))
    writeOutput(
        fmt::format("\nwarning: {} conditioned on metric `{}` which is not available. Available metrics are: {}\n",
                    what, name_, names));
  return std::nullopt;
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
