// The state of a Model beyond that of a layer: its graph, the result of compile(), and the programs that run it.
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
#include <set>
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

/// The result of compile(). It is complete before it replaces the last one. A run holds it while users' code runs,
/// since that code may compile again.
struct CompiledModel {
  CompiledModel(const Layer &model, const CompileArgs &args);
  CompiledModel(const CompiledModel &) = delete;
  CompileArgs args;         // with the device that was chosen
  Optimizer optimizer;      // the wrapper when the loss is scaled
  std::vector<Loss> losses; // one per output, once the outputs are known
  MeanTracker lossTracker{"loss"};
  std::vector<MeanTracker> outputTrackers; // with several outputs
  std::vector<OutputMetric> metrics;
  std::shared_ptr<const LoggedMetrics> logged; // all of these by name, as Keras gives them
  bool ready = false;                          // losses and metrics are matched to outputs
  /// The programs. Feeds: inputs, then targets, then weights (none, or one per target). Fetches: the loss, the metrics
  /// that are logged, and of training with a scaled loss its word of skipped steps.
  CompiledFunction train, test;
};

struct ModelState {
  std::vector<Value> inputs, outputs;  // a graph's; empty for a custom model or an unbuilt Sequential
  std::vector<Layer> sequence;         // Sequential's layers, without the InputLayer
  std::optional<Layer> sequenceInput;  // its InputLayer
  std::set<std::string> sequenceNames; // of both
  std::vector<std::string> outputNames;
  bool isSequential = false;
  std::atomic<bool> stopTraining = false;
  // The fields that users' code may replace while a run lasts, also on another thread (a dataset that reads ahead):
  // under the mutex.
  std::mutex mutex;
  std::shared_ptr<CompiledModel> compiled;
  std::shared_ptr<CompiledFunction> predict;
  std::vector<TensorType> lastTrainTypes; // of the last training step; ir() shows them by default
  FeedLayout lastTrainLayout;
};

ModelState &stateOf(const Layer &model);
/// The result of the last compile(); null before the first.
std::shared_ptr<CompiledModel> compiledIfAny(const Layer &model);
/// The same after compile(). value_error "You must call `compile()` before ..." otherwise.
std::shared_ptr<CompiledModel> compiledOf(const Layer &model, const char *before);

/// x and y of a batch as lists in the order of the model's inputs and outputs.
std::vector<Tensor> orderedInputs(const Layer &model, const Tensors &x);

/// The program that predicts. A caller holds it while it runs, like the result of compile().
std::shared_ptr<CompiledFunction> predictFunction(const Layer &model);
/// The feeds of the train and test programs: inputs, targets, weights.
FeedLayout batchLayout(size_t inputs, size_t targets, size_t weights);

/// Matches losses and metrics to the model's outputs at the first batch.
void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Tensor> &x,
                     const std::vector<Tensor> &y);
/// The logs of a step of the train or test program.
Logs logsOf(const CompiledModel &compiled, std::vector<Tensor> fetches);
void resetMetrics(CompiledModel &compiled);

/// Checks labels against the losses, on the host. value_error names the row.
void checkTargets(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &y);

} // namespace halftone::detail
