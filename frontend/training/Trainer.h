// The result of compile(): losses, metrics, programs, and the state to run them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/NameList.h"
#include "frontend/graph/CompiledFunction.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/StateOnDemand.h"
#include "frontend/metrics/MetricImpl.h"
#include "frontend/training/MetricStates.h"
#include "frontend/training/StepLogs.h"
#include "halftone/Model.h"
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

/// The logs of one program's steps, if the model has hooks (hasHooks()). They are determined by a trace before the
/// program is compiled, so that a run can reset all metrics before its first step.
struct StepRecord {
  bool hasLoss = false;                        // true if the first fetch is the loss
  std::shared_ptr<const LoggedMetrics> logged; // in the order of the logs
  std::vector<Metric> metrics;                 // updated by the step, logged or not
  std::map<std::string, MeanTracker> reports;  // by name
  /// For the fed targets that compile()'s losses use unchanged: the index of each, and the output.
  std::vector<std::pair<size_t, size_t>> targets;
};
/// The record of a program's steps. Safe to use from several threads.
class RecordedStep {
public:
  /// Calls `record` unless a record exists. The open transaction undoes it.
  void require(const std::function<StepRecord()> &record);
  /// Null before require().
  std::shared_ptr<const StepRecord> known() const;

private:
  void set(std::shared_ptr<const StepRecord> record);
  StateOnDemand made_;
  mutable std::mutex mutex_;
  std::shared_ptr<const StepRecord> record_;
};

/// The result of compile(). It is complete before it replaces an earlier result. A run owns it while user code runs,
/// since that code may call compile() again.
struct CompiledModel {
  CompiledModel(const Layer &model, const CompileArgs &args);
  CompiledModel(const CompiledModel &) = delete;
  CompileArgs args;         // `device` is set
  Optimizer optimizer;      // the LossScaleOptimizer if it scales the loss
  NameList outputs;         // set by prepareCompiled(), like the fields below; those with a loss or metric need targets
  std::vector<Loss> losses; // one per output, undefined where there is none
  std::vector<double> lossWeights; // one per output, or none
  MeanTracker lossTracker{"loss"};
  std::map<size_t, MeanTracker> outputTrackers; // by output; empty unless several outputs have a loss
  std::vector<OutputMetric> metrics;
  std::shared_ptr<const LoggedMetrics> logged; // every metric and tracker by name, in Keras's order
  std::shared_ptr<const void> use;             // identifies the metrics of this compile() for ownMetric()
  MetricStates metricStates;                   // of active runs
  StateOnDemand prepared;                      // made when losses and metrics have been matched to outputs
  std::array<RecordedStep, 2> steps;           // of a model with hooks: testing, training
  bool begunTogether = false;                  // true if processes have compared it and have rank 0's weights
  std::set<std::string> agreedSteps;           // compared by processes: shapes, arguments, configuration epoch
  /// The programs. Feeds: inputs, then a target for each output that needs one, then weights (none, one for all, or one
  /// per target). A model with hooks gets all given targets in order, and its fetches begin with the loss only if its
  /// step has one. Fetches: the loss, the logged metrics, and for training with a scaled loss the skippedWord().
  CompiledFunction train, test;
};

/// The result of the last compile(); null before the first.
std::shared_ptr<CompiledModel> compiledIfAny(const Layer &model);
/// The result of the last compile(). value_error "You must call `compile()` before ..." if there was none.
std::shared_ptr<CompiledModel> compiledOf(const Layer &model, const char *before);

/// The tensors of x in the order of the model's inputs. value_error as of inOrder().
std::vector<Tensor> orderedInputs(const Layer &model, const Tensors &x);

/// The program of predict. The caller owns it while it runs, as with the result of compile().
std::shared_ptr<CompiledFunction> predictFunction(const Layer &model);
/// The feeds of the train and test programs: inputs, targets, weights and, for a batch of `allRows` rows that processes
/// share, the row counts of this process and of all. `allRows` is 0 if the process runs alone.
FeedLayout batchLayout(size_t inputs, size_t targets, size_t weights, int64_t allRows);

/// Sets whether processes share the trace's batch: `counts` are its rows in this process and in all, or empty.
void shareBatch(const std::vector<Value> &counts, const FeedLayout &layout);
/// value_error if the number of the model's outputs has changed since compile().
void requireOutputs(const LayerImpl &layer, const CompiledModel &compiled, size_t count);
FunctionOptions optionsOf(const Layer &model, const CompileArgs *args, const char *program);

/// The outputs of a model for given inputs, and the loss of each.
struct MatchedOutputs {
  std::vector<ValueSpec> specs;
  NameList names; // those with a loss or a metric are needed
  std::vector<Loss> losses;
};
/// Matches the losses of compile() to the outputs, which it determines by a trace. value_error for losses or metrics
/// that fit no output, or if the number of outputs varies.
MatchedOutputs matchOutputs(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &x);
/// Matches losses and metrics to the model's outputs, at the first batch. `compiled` must outlive the enclosing
/// CallTransaction, which undoes it if the first step fails.
void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Tensor> &x, const Tensors &y);
/// Like the above, for outputs and targets from a step with hooks.
void prepareCompiled(const Layer &model, CompiledModel &compiled, const std::vector<Value> &predictions,
                     const Values &y);
/// The logs of a step of the train or test program.
Logs logsOf(const CompiledModel &compiled, bool isTraining, std::vector<Tensor> fetches);
/// The variables of all metrics and trackers.
std::vector<Variable> metricVariables(const CompiledModel &compiled);

/// The module, in stage graph, of the loss and metrics of a batch in a single process. The types are those of the
/// feeds.
std::string lossText(const Layer &model, CompiledModel &compiled, bool isTraining, const std::vector<TensorType> &types,
                     const FeedLayout &layout);

/// Checks labels, by output, against the number of classes along each loss's axis, on the host. value_error names the
/// row.
void checkTargets(const Layer &model, const CompiledModel &compiled, const std::vector<Tensor> &y);

} // namespace halftone::detail
