// One batch through the train or test program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchSource.h"
#include "frontend/training/Trainer.h"

namespace halftone::detail {

/// What a run holds while users' code is called, which may destroy the caller's model or compile it anew: the model,
/// and what compile() had made of it when the run began.
struct Run {
  Run(const Model &m, const char *before)
      : model(m), compiled(compiledOf(m, before)), metrics(compiled->metricStates) {}
  Model model;
  std::shared_ptr<CompiledModel> compiled;
  mutable int64_t mostRows = -1; // of the run's training steps so far
  MetricStates::Place metrics;
};
/// Begins the sums of the run's metrics anew.
void resetMetrics(const Run &run);

/// The sums of the metrics that training steps log.
std::vector<Tensor> metricSums(const Run &run);
/// Lets the sums go on before the next step, whose batch is `next`. value_error if they are of other metrics.
void setMetricSums(const Run &run, const BatchPart &next, const std::vector<Tensor> &sums);

struct StepResult {
  Logs logs;
  Tensor skipped; // of training with a scaled loss: its word of skipped steps
};
/// Keeps this process's part of the optimizer's state alone if the distribution says so. runtime_error if the state was split
/// before and the process is alone.
void splitState(const CompiledModel &compiled);

/// Work of EpochReader::prepareAhead(): the host steps of a program of the model. Null if no layer computes on the host.
std::function<void(const BatchPart &)> hostStepsAhead(const Model &model, std::shared_ptr<CompiledFunction> program);

/// Checks and runs one batch. `labelsChecked`: the labels of all batches were checked before.
StepResult trainStep(const Run &run, const BatchPart &part, bool labelsChecked);
StepResult testStep(const Run &run, const BatchPart &part, bool labelsChecked);

/// Checks arrays whole and compiles the train or the test program for their batches, the last one included. A dataset
/// shows its batches only as they come.
void prepare(const Run &run, const BatchSource &batches, bool isTraining);

} // namespace halftone::detail
