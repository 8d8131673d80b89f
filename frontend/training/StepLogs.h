// The logs of a step: metrics as fetches of the step, whose values are computed lazily.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Callbacks.h"
#include "halftone/Metrics.h"
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct LoggedMetric {
  std::string name; // the key in logs
  Metric metric;
};
using LoggedMetrics = std::vector<LoggedMetric>; // in the order of the logs

/// For a program that updates `metrics`: adds the state of each metric as fetches, at the trace's current point.
void fetchMetrics(const LoggedMetrics &metrics, std::vector<CompiledFunction::Named> &fetches);

/// The values of logs, computed from a step's fetches. Safe to use from several threads.
class StepValues {
public:
  using Items = std::vector<std::pair<std::string, double>>;
  /// `fetches` from index `first` on are those that fetchMetrics() added.
  StepValues(std::shared_ptr<const LoggedMetrics> metrics, std::vector<Tensor> fetches, size_t first)
      : metrics_(std::move(metrics)), fetches_(std::move(fetches)), first_(first) {}
  /// Computed at the first call. If the device is asynchronous, that call waits for the step.
  const Items &items();
  static Logs logs(std::shared_ptr<StepValues> values);

private:
  std::shared_ptr<const LoggedMetrics> metrics_;
  std::vector<Tensor> fetches_;
  size_t first_;
  std::once_flag computed_;
  Items items_;
};

} // namespace halftone::detail
