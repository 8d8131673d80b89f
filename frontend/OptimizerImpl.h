// The interface behind an Optimizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/Variables.h"
#include "halftone/Optimizers.h"
#include <memory>
#include <string>
#include <vector>

namespace halftone::detail {

struct OptimizerImpl : std::enable_shared_from_this<OptimizerImpl> {
  virtual ~OptimizerImpl() = default;
  std::string className, name;
  virtual Value scaleLoss(const Value &loss) const = 0;
  virtual void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables) = 0;
  virtual void finalize(const std::vector<Variable> &variables) const = 0;
  virtual double learningRate() const = 0;
  virtual void setLearningRate(double value) = 0;
  virtual int64_t iterations() const = 0;
  virtual std::vector<Variable> variables() const = 0;
  /// variables(), and those that Keras's list does not have.
  virtual std::vector<Variable> allVariables() const = 0;
  virtual bool isBuilt() const = 0; // the variables that it updates are known
  virtual Config config() const = 0;
  /// A wrapper scales the loss instead: Keras drops the factor for good.
  virtual void dropLossScaleFactor() = 0;
  virtual void excludeFromWeightDecay(const std::vector<Variable> &variables,
                                      const std::vector<std::string> &names) = 0;
};

bool isLossScaleOptimizer(const Optimizer &optimizer);
/// type_error unless isLossScaleOptimizer().
optimizers::LossScaleOptimizer asLossScaleOptimizer(const Optimizer &optimizer);

/// Recorded: the word that counts skipped steps. It is an int64.
Value skippedWord(const optimizers::LossScaleOptimizer &optimizer);
/// Whether, by that word, as many steps in a row were skipped as its alarm is set to.
bool isStalled(const optimizers::LossScaleOptimizer &optimizer, int64_t skippedWord);

/// A scalar of an optimizer's own, holding `value`; its path is "<optimizer>/<name>".
Variable optimizerScalar(const std::string &optimizer, const char *name, double value, DType dtype, VariableRole role);
/// The value of a variable at this point of the trace, in its own dtype.
Value readRaw(const Variable &variable);
/// value_error unless there are as many gradients as variables, and a gradient (none given at all is fine).
void checkGradients(const std::vector<Value> &gradients, const std::vector<Variable> &variables);
/// The optimizer of a class, whose name counts in any case. value_error when there is none, or for keys that it does
/// not know.
Optimizer optimizerFromConfig(const std::string &className, const Config &config);

} // namespace halftone::detail
