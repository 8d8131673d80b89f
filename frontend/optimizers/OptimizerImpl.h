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
  bool isFromName = false;             // made of a name alone, such as "adam"
  std::atomic<bool> isClaimed = false; // if it is, by a compile()
  virtual Value scaleLoss(const Value &loss) const = 0;
  /// Optimizer::unscale() of gradients that requireGradients() has checked.
  virtual std::vector<Value> unscale(const std::vector<Value> &gradients) = 0;
  virtual void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
                     const ApplyArgs &args) = 0;
  virtual void finalize(const std::vector<Variable> &variables) = 0;
  /// Whether it keeps averages of weights; and whether these stand in the weights, and the weights in the averages, since
  /// exchangeAverages() was called, which does nothing before the first average.
  virtual bool hasAverages() const = 0;
  virtual bool areExchanged() const = 0;
  virtual void exchangeAverages(const std::vector<Variable> &variables) = 0;
  virtual double learningRate() const = 0;
  virtual void setLearningRate(double value) = 0;
  /// Writes the rate of the next update, and those of the updates that may follow without another call: returns how many there
  /// may be in all, of which `updates` are certain. A program that is not run by a CompiledFunction needs it.
  virtual int64_t prepareRate(int64_t updates) = 0;
  virtual Variable callCount() const = 0;                // how often apply() was called
  virtual int64_t updatesAfter(int64_t calls) const = 0; // with accumulation, fewer than calls
  int64_t iterations() const { return updatesAfter(static_cast<int64_t>(hostScalar(callCount()))); }
  virtual std::vector<Variable> variables() const = 0;
  /// variables(), and the variables that Keras's list lacks.
  virtual std::vector<Variable> allVariables() const = 0;
  virtual bool isBuilt() const = 0; // whether it knows the variables that it updates
  /// Makes the slot variables. Does nothing if the optimizer is built, or if there are no variables. The transaction that is
  /// open undoes it (CallTransaction): so a call that only reads the state leaves the optimizer unbuilt.
  virtual void build(const std::vector<Variable> &variables) = 0;
  /// How processes divide the state.
  virtual const OptimizerParts &parts() const = 0;
  /// Whether apply() needs only the elements of each gradient that this process updates (SharedBatch::hasOwnGradients).
  virtual bool takesOwnGradients() const = 0;
  /// Keeps the state of this process of `processes` alone, from now on; call it once, with the same state in all of them.
  virtual void split(int64_t rank, int64_t processes) = 0;
  virtual Config config() const = 0;
  /// Called when a wrapper scales the loss instead. Keras, too, drops the factor for good.
  virtual void dropLossScaleFactor() = 0;
  virtual void excludeFromWeightDecay(const std::vector<Variable> &variables,
                                      const std::vector<std::string> &names) = 0;
};

bool isLossScaleOptimizer(const Optimizer &optimizer);
/// The optimizer for one compile(): `optimizer` itself, but for one that was made of a name and that another compile() has, or
/// that knows variables, a new one of that name.
Optimizer ownOptimizer(const Optimizer &optimizer);
/// The rate; value_error unless it is finite.
double requireRate(double rate);
/// type_error unless isLossScaleOptimizer().
optimizers::LossScaleOptimizer asLossScaleOptimizer(const Optimizer &optimizer);

/// Records the int64 word that counts skipped steps.
Value skippedWord(const optimizers::LossScaleOptimizer &optimizer);
/// The loss scale's variables with the values of a new LossScaleOptimizer.
std::vector<std::pair<Variable, Tensor>> initialLossScale(const optimizers::LossScaleOptimizer &optimizer);
/// Whether that word counts as many skipped steps in a row as stall_alarm_steps.
bool isStalled(const optimizers::LossScaleOptimizer &optimizer, int64_t skippedWord);

/// A scalar variable of the optimizer itself, with the initial `value`; its path is "<optimizer>/<name>".
Variable optimizerScalar(const std::string &optimizer, const char *name, double value, DType dtype, VariableRole role);
/// Reads a variable at this point of the trace, in its own dtype.
Value readRaw(const Variable &variable);
/// Gradients of a scaled loss without its scale, each divided by the scalar `scale` in float32 at least. Those that replace
/// their variables stay as they are.
std::vector<Value> dividedBy(const Value &scale, std::vector<Value> gradients,
                             const std::vector<bool> &areReplacements);
/// value_error unless there are as many gradients as variables. value_error if all gradients are undefined; an empty
/// list is right.
void checkGradients(const std::vector<Value> &gradients, const std::vector<Variable> &variables);
/// The optimizer of a class; upper and lower case do not matter. value_error for an unknown class or for unknown keys.
Optimizer optimizerFromConfig(const std::string &className, const Config &config);

} // namespace halftone::detail
