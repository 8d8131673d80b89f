// Runs one batch through the train or test program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchSource.h"
#include "frontend/training/Trainer.h"

namespace halftone::detail {

/// Keeps the model and its compiled state alive during a run: user code may destroy the caller's model or call
/// compile() again.
struct Run {
  Run(const Model &m, const char *before)
      : model(m), compiled(compiledOf(m, before)), metrics(compiled->metricStates) {}
  Model model;
  std::shared_ptr<CompiledModel> compiled;
  mutable int64_t maxRows = -1; // maximum over the run's training steps so far
  MetricStates::Slot metrics;
};
/// Resets the sums of the run's metrics.
void resetMetrics(const Run &run);

/// The sums of the metrics that training steps log.
std::vector<Tensor> metricSums(const Run &run);
/// Restores the sums before the next step, whose batch is `next`. value_error if they belong to other metrics.
void setMetricSums(const Run &run, const BatchPart &next, const std::vector<Tensor> &sums);

struct StepResult {
  Logs logs;
  Tensor skipped; // for training with a scaled loss: its word of skipped steps
};
/// Reduces the optimizer's state to this process's part if the distribution shards optimizer states. runtime_error if
/// the state was split before and the process runs alone.
void splitState(const CompiledModel &compiled);

/// The work for EpochReader::prepareAhead(), which runs the host steps of a program of the model. Null if no layer
/// computes on the host.
std::function<void(const BatchPart &)> hostStepsAhead(const Model &model, std::shared_ptr<CompiledFunction> program);

/// Checks and runs one batch. `labelsChecked`: the labels of all batches were checked before.
StepResult trainStep(const Run &run, const BatchPart &part, bool labelsChecked);
StepResult testStep(const Run &run, const BatchPart &part, bool labelsChecked);

/// Checks arrays as a whole and compiles the train or test program for their batches, including the last one. Batches
/// of a dataset are known only as they arrive.
void prepare(const Run &run, const BatchSource &batches, bool isTraining);

} // namespace halftone::detail
