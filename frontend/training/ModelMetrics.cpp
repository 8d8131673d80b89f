// The metrics of a compiled model, for custom loops: as handles, as logs, and reset.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/ModelState.h"
#include "frontend/training/StepContext.h"
#include "frontend/training/Trainer.h"
#include "runtime/VariableStore.h"
#include <algorithm>

namespace halftone {
using namespace detail;

/// The metrics by their names in the logs, those of both programs if hooks determine them; before the first batch, only
/// the loss.
static std::shared_ptr<const LoggedMetrics> loggedOf(const CompiledModel &compiled) {
  if (std::shared_ptr<const LoggedMetrics> ofHooks = loggedSteps(compiled); !ofHooks->empty())
    return ofHooks;
  if (compiled.logged)
    return compiled.logged;
  return std::make_shared<LoggedMetrics>(LoggedMetrics{{"loss", compiled.lossTracker.metric()}});
}

static std::vector<Metric> metricsOf(const CompiledModel &compiled) {
  std::vector<Metric> all{compiled.lossTracker.metric()};
  for (const OutputMetric &metric : compiled.metrics)
    all.push_back(metric.metric);
  for (const auto &[output, tracker] : compiled.outputTrackers)
    all.push_back(tracker.metric());
  for (const LoggedMetric &logged : *loggedOf(compiled))
    if (std::ranges::none_of(all, [&](const Metric &each) { return each.impl() == logged.metric.impl(); }))
      all.push_back(logged.metric);
  return all;
}

std::vector<Metric> Model::metrics() const { return metricsOf(*compiledOf(*this, "asking for the metrics")); }

Logs Model::get_metrics_result() const {
  const std::shared_ptr<CompiledModel> compiled = compiledOf(*this, "calling `get_metrics_result()`");
  const std::shared_ptr<const LoggedMetrics> logged = loggedOf(*compiled);
  std::vector<VariableHandle> memory;
  for (const LoggedMetric &each : *logged)
    for (const Variable &state : each.metric.variables())
      memory.push_back(state.impl()->memory);
  return StepValues::logs(std::make_shared<StepValues>(logged, readTogether(memory).valueOrThrow(), 0));
}

void Model::reset_metrics() const {
  for (const Metric &metric : metricsOf(*compiledOf(*this, "calling `reset_metrics()`")))
    resetMetric(metric);
}

} // namespace halftone
