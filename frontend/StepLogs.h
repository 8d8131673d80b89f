// What a step reports: metrics as its fetches hold them, computed when somebody reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/CompiledFunction.h"
#include "halftone/Callbacks.h"
#include "halftone/Metrics.h"
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct LoggedMetric {
  std::string name; // in logs
  Metric metric;
};
using LoggedMetrics = std::vector<LoggedMetric>; // in the order of logs

/// For a program that updates these metrics: the total and the count of each, as they stand where the trace stands.
void fetchMetrics(const LoggedMetrics &metrics, std::vector<CompiledFunction::Named> &fetches);

/// Values of logs that are still tensors. Safe to use from several threads.
class StepValues {
public:
  using Items = std::vector<std::pair<std::string, double>>;
  /// `fetches` from `first` on are what fetchMetrics() added.
  StepValues(std::shared_ptr<const LoggedMetrics> metrics, std::vector<Tensor> fetches, size_t first)
      : metrics_(std::move(metrics)), fetches_(std::move(fetches)), first_(first) {}
  /// Computed at the first call, which waits for the step where it runs apart from the host.
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
