// The interface behind an Optimizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "halftone/Optimizers.h"
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

class OptimizerParts;

struct OptimizerImpl : std::enable_shared_from_this<OptimizerImpl> {
  virtual ~OptimizerImpl() = default;
  std::string className, name;
  bool isFromName = false;             // created from a name alone, such as "adam"
  std::atomic<bool> isClaimed = false; // true if a compile() owns an optimizer that is isFromName
  virtual Value scaleLoss(const Value &loss) const = 0;
  /// Optimizer::unscale() for gradients that requireGradients() has checked.
  virtual std::vector<Value> unscale(const std::vector<Value> &gradients) = 0;
  virtual void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
                     const ApplyArgs &args) = 0;
  virtual void finalize(const std::vector<Variable> &variables) = 0;
  /// hasAverages() returns true if the optimizer maintains weight averages, and areExchanged() if exchangeAverages()
  /// has swapped weights and averages. exchangeAverages() has no effect before the first average.
  virtual bool hasAverages() const = 0;
  virtual bool areExchanged() const = 0;
  virtual void exchangeAverages(const std::vector<Variable> &variables) = 0;
  virtual double learningRate() const = 0;
  virtual void setLearningRate(double value) = 0;
  /// Writes the rates of the next `updates` updates, and possibly of later updates. Returns the number of updates that
  /// the rates cover. Needed for programs that a CompiledFunction does not run.
  virtual int64_t prepareRate(int64_t updates) = 0;
  virtual Variable callCount() const = 0;                // number of apply() calls
  virtual int64_t updatesAfter(int64_t calls) const = 0; // fewer than calls if gradients are accumulated
  int64_t iterations() const { return updatesAfter(static_cast<int64_t>(hostScalar(callCount()))); }
  virtual std::vector<Variable> variables() const = 0;
  /// variables(), and the variables that are not in Keras's list.
  virtual std::vector<Variable> allVariables() const = 0;
  virtual bool isBuilt() const = 0; // whether its variables to update are known
  /// Creates the slot variables. No-op if the optimizer is built, or if there are no variables. The open transaction
  /// (CallTransaction) undoes it, so a call that only reads the state leaves the optimizer unbuilt.
  virtual void build(const std::vector<Variable> &variables) = 0;
  /// The division of the state among processes.
  virtual const OptimizerParts &parts() const = 0;
  /// Returns true if apply() needs only the elements of each gradient that this process updates
  /// (SharedBatch::hasOwnGradients).
  virtual bool takesOwnGradients() const = 0;
  /// From now on keeps only this process's part, of `processes`, of the state. Call it once, with the same state in all
  /// processes.
  virtual void split(int64_t rank, int64_t processes) = 0;
  virtual Config config() const = 0;
  /// Drops the loss scale factor, because a wrapper scales the loss instead. As in Keras, this is permanent.
  virtual void dropLossScaleFactor() = 0;
  virtual void excludeFromWeightDecay(const std::vector<Variable> &variables,
                                      const std::vector<std::string> &names) = 0;
};

bool isLossScaleOptimizer(const Optimizer &optimizer);
/// The optimizer for one compile(): `optimizer` itself, or a new one of the same name if it was created from a name and
/// another compile() owns it or its variables are known.
Optimizer ownOptimizer(const Optimizer &optimizer);
/// The rate; value_error unless it is finite.
double requireRate(double rate);
/// type_error unless isLossScaleOptimizer().
optimizers::LossScaleOptimizer asLossScaleOptimizer(const Optimizer &optimizer);

/// Records the int64 counter word of skipped steps.
Value skippedWord(const optimizers::LossScaleOptimizer &optimizer);
/// The loss scale's variables, paired with the initial values of a new LossScaleOptimizer.
std::vector<std::pair<Variable, Tensor>> initialLossScale(const optimizers::LossScaleOptimizer &optimizer);
/// Returns true if the word counts at least stall_alarm_steps consecutive skipped steps.
bool isStalled(const optimizers::LossScaleOptimizer &optimizer, int64_t skippedWord);

/// A scalar variable of the optimizer itself, initialized with `value`; its path is "<optimizer>/<name>".
Variable optimizerScalar(const std::string &optimizer, const char *name, double value, DType dtype, VariableRole role);
/// Reads a variable at this point of the trace, in its own dtype.
Value readRaw(const Variable &variable);
/// Unscales gradients of a scaled loss: divides each by the scalar `scale` in float32 at least. Gradients that replace
/// their variables are unchanged.
std::vector<Value> dividedBy(const Value &scale, std::vector<Value> gradients,
                             const std::vector<bool> &areReplacements);
/// value_error if the numbers of gradients and variables differ, or if all gradients are undefined; empty lists are
/// valid.
void checkGradients(const std::vector<Value> &gradients, const std::vector<Variable> &variables);
/// Creates an optimizer by case-insensitive class name. value_error for an unknown class or for unknown keys.
Optimizer optimizerFromConfig(const std::string &className, const Config &config);

} // namespace halftone::detail
