// What a Model is beyond a layer: its graph, what compile() made, and the programs that run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/CompiledFunction.h"
#include "frontend/LayerImpl.h"
#include "frontend/MetricImpl.h"
#include "frontend/StepLogs.h"
#include "halftone/Model.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A metric of one output.
struct OutputMetric {
  std::string name; // in logs: "accuracy", or "<output>_accuracy"
  size_t output = 0;
  Metric metric;
  bool weighted = false;
};

/// What compile() left behind. Made whole before it replaces the last one. Whoever runs users' code holds it meanwhile:
/// that code may compile again.
struct CompiledModel {
  CompiledModel(const Layer &model, const CompileArgs &args);
  CompiledModel(const CompiledModel &) = delete;
  CompileArgs args; // with the device that was chosen
  Optimizer optimizer;      // the wrapper when the loss is scaled
  std::vector<Loss> losses; // one per output, once the outputs are known
  MeanTracker lossTracker{"loss"};
  std::vector<MeanTracker> outputTrackers; // with several outputs
  std::vector<OutputMetric> metrics;
  std::shared_ptr<const LoggedMetrics> logged; // all of these by name, as Keras gives them
  bool ready = false; // losses and metrics are matched to outputs
  /// The programs. Feeds: inputs, then targets, then weights (none, or one per target). Fetches: the loss, the metrics
  /// that are logged, and of training with a scaled loss its word of skipped steps.
  CompiledFunction train, test;
};

struct ModelState {
  std::vector<Value> inputs, outputs; // a graph's; empty for a custom model or an unbuilt Sequential
  std::vector<Layer> sequence;        // Sequential's layers, without the InputLayer
  std::optional<Layer> sequenceInput; // its InputLayer
  std::vector<std::string> outputNames;
  bool isSequential = false;
  std::atomic<bool> stopTraining = false;
  // What users' code replaces while a run lasts, on another thread too (a dataset that reads ahead): under the mutex.
  std::mutex mutex;
  std::shared_ptr<CompiledModel> compiled;
  std::shared_ptr<CompiledFunction> predict;
  std::vector<TensorType> lastTrainTypes; // of the last training step: what ir() shows by default
  std::string lastTrainVariant;
};

ModelState &stateOf(const Layer &model);
/// What compile() made last; null before it.
std::shared_ptr<CompiledModel> compiledIfAny(const Layer &model);
/// The same after compile(). value_error "You must call `compile()` before ..." otherwise.
std::shared_ptr<CompiledModel> compiledOf(const Layer &model, const char *before);

/// x and y of a batch as lists in the order of the model's inputs and outputs.
std::vector<Tensor> orderedInputs(const Layer &model, const Tensors &x);

/// The program that predicts. Like what compile() made, it is held while it runs.
std::shared_ptr<CompiledFunction> predictFunction(const Layer &model);
/// "targets weights": how many of each follow the inputs.
std::string feedVariant(size_t targets, size_t weights);

/// Matches losses and metrics to the model's outputs at the first batch.
void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Tensor> &x,
                     const std::vector<Tensor> &y);
/// The logs of a step of the train or test program.
Logs logsOf(const CompiledModel &compiled, std::vector<Tensor> fetches);
void resetMetrics(CompiledModel &compiled);

/// Checks labels against the losses, on the host. value_error names the row.
void checkTargets(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &y);

} // namespace halftone::detail
