// The state of a Model other than that of a layer: its graph, the result of compile(), and its epoch count.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/training/OwnOptimizers.h"
#include "halftone/Model.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace halftone::detail {

struct CompiledModel;
class FitProgress;
struct DataPosition;

struct ModelState {
  std::vector<Value> inputs, outputs; // of a graph; empty for a custom model or an unbuilt Sequential
  static constexpr uint64_t severalEpochs = ~uint64_t(0);
  uint64_t recordedEpoch = severalEpochs; // the configuration epoch of all recorded calls of the graph
  Config endForms;                        // their structures in a file: {"inputs": {"a": {"input": 0}}, "outputs": ...}
  std::vector<Layer> sequence;            // the layers of a Sequential, without the InputLayer
  std::optional<Layer> sequenceInput;     // the InputLayer of a Sequential
  std::set<std::string> sequenceNames;    // the names of those layers and of the InputLayer
  std::vector<std::string> outputNames;
  bool isSequential = false;
  std::atomic<bool> stopTraining = false;
  std::set<std::string> agreedPrograms;    // programs that processes have compared: name, shapes, configuration epoch
  std::atomic<int64_t> finishedEpochs = 0; // by the last fit(), or from the checkpoint restored last
  std::atomic<int64_t> restores = 0;       // of checkpoints
  // The mutex guards the fields below. User code may replace them during a run, also on another thread (a dataset that
  // reads ahead).
  std::mutex mutex;
  std::shared_ptr<CompiledModel> compiled;
  std::shared_ptr<CompiledFunction> predict;
  /// The types of the training step that ir() and reports describe: the one with the most rows in the last run, so a
  /// smaller last batch does not replace it.
  std::vector<TensorType> fullStepTypes;
  FeedLayout fullStepLayout;
  /// Optimizers other than compile()'s that traces of steps have used, and states that wait for further optimizers.
  /// Both persist across compile() calls.
  std::vector<std::shared_ptr<OwnOptimizer>> ownOptimizers;
  AwaitedStates awaitedStates;
  std::shared_ptr<History::Rep> history;                // of the last fit(); null before the first
  FitProgress *progress = nullptr;                      // of the run started last
  std::shared_ptr<const DataPosition> restoredPosition; // of the checkpoint restored last, until a fit() begins
};

ModelState &stateOf(const Layer &model);

/// Turns a layer into a model.
void makeModel(LayerImpl &layer);

} // namespace halftone::detail
