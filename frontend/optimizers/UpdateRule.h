// Base class of optimizers: state, slot variables, clipping, weight decay, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Promotion.h"
#include "frontend/graph/StateOnDemand.h"
#include "frontend/optimizers/Fields.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/optimizers/RateTable.h"
#include "runtime/policy/PathPattern.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

class Trace;

/// Returns true if each update replaces the variable's value by the gradient (UpdateKind::overwrite).
bool isOverwritten(const Variable &variable);

struct RuleArgs {
  std::string name;
  std::optional<double> weightDecay, clipnorm, clipvalue, globalClipnorm, lossScaleFactor;
  bool useEma = false;
  double emaMomentum = 0.99;
  std::optional<int64_t> emaOverwriteFrequency{}, accumulationSteps{};
};
/// The arguments that every optimizer has; `name` is used if the user gave none.
template <class Args> RuleArgs ruleArgs(const Args &args, const char *name) {
  return {args.name.empty() ? name : args.name,
          args.weight_decay,
          args.clipnorm,
          args.clipvalue,
          args.global_clipnorm,
          args.loss_scale_factor,
          args.use_ema,
          args.ema_momentum,
          args.ema_overwrite_frequency,
          args.gradient_accumulation_steps};
}

/// `factor` times `x`, rounded once to the dtype of `x`. The factor is a scalar in float32 or wider.
Value scaledBy(const Value &x, const Value &factor);
/// The Euclidean norm of all elements, in float32 at least. It overflows only if the norm itself is not representable.
Value norm(const std::vector<Value> &values);
/// A norm times `scale`, a power of two, which is 1 unless squares may overflow.
struct ScaledLength {
  Value length, scale;
};
ScaledLength scaledNorm(const std::vector<Value> &values);
/// Reads a variable in the dtype of `like`, in which its update is computed.
Value readAs(const Value &like, const Variable &variable);
/// Moves a slot variable towards `target` by the fraction `share`, in the dtype of `target`, and returns its new value.
Value moveTo(const Variable &slot, const Value &target, double share);

class UpdateRule : public OptimizerImpl {
public:
  /// value_error if more than one clipping argument is given, or if a step count is out of range.
  UpdateRule(std::string className, RuleArgs args, LearningRate learningRate);
  Value scaleLoss(const Value &loss) const override;
  std::vector<Value> unscale(const std::vector<Value> &gradients) override;
  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
             const ApplyArgs &args) override;
  void finalize(const std::vector<Variable> &variables) override;
  bool hasAverages() const override { return args_.useEma; }
  bool areExchanged() const override { return areExchanged_; }
  void exchangeAverages(const std::vector<Variable> &variables) override;
  double learningRate() const override;
  void setLearningRate(double value) override;
  int64_t prepareRate(int64_t updates) override;
  Variable callCount() const override { return iterations_; }
  int64_t updatesAfter(int64_t calls) const override { return calls / args_.accumulationSteps.value_or(1); }
  std::vector<Variable> variables() const override;
  std::vector<Variable> allVariables() const override;
  bool isBuilt() const override { return state_.isMade(); }
  void build(const std::vector<Variable> &variables) override;
  const OptimizerParts &parts() const override { return parts_; }
  bool takesOwnGradients() const override { return parts_.areSplit() && !clipsByNorm(); }
  void split(int64_t rank, int64_t processes) override;
  void dropLossScaleFactor() override { args_.lossScaleFactor.reset(); }
  void excludeFromWeightDecay(const std::vector<Variable> &variables, const std::vector<std::string> &names) override;

protected:
  struct SlotSpec {
    const char *name;
    double initial = 0.0;
    std::optional<Shape> shape{}; // empty: the shape of the variable
    bool isCopy = false;  // the first update sets it to the variable's value; until then it is a copy from its creation
    bool isWhole = false; // whole in every process even if the variable is divided
  };
  /// The scalars of one step, in the dtype of the variable's update.
  struct Scalars {
    Value rate;
    std::vector<Value> derived; // the result of derivedOf()
  };
  /// The slot variables of a variable. apply() creates them group by group and, within a group, variable by variable.
  virtual std::vector<std::vector<SlotSpec>> slotGroups(const Variable &variable) const = 0;
  /// Like slotGroups(), for a variable that its gradient replaces. These slots are unused, but Keras files contain
  /// them.
  virtual std::vector<std::vector<SlotSpec>> overwrittenSlotGroups(const Variable &) const { return {}; }
  /// Returns true if the update of an element depends on no other element, so that processes may divide a variable.
  virtual bool isElementwise() const { return true; }
  /// The fraction of a variable, times the rate, that each update subtracts: the argument unless a rule overrides it.
  virtual std::optional<double> weightDecayOf(const Variable &) const { return args_.weightDecay; }
  /// Scalars that a rule derives from the rate and from `step`, the number of updates including this one. Both are in
  /// float32 or wider.
  virtual std::vector<Value> derivedOf(const Value &rate, const Value &step) const;
  /// The optimizer's own state: created in `dtype` after the slot variables, listed after them, advanced before each
  /// update.
  virtual void makeState(DType dtype);
  virtual std::vector<Variable> state() const;
  virtual void advance(const Value &step) const;
  /// The dtype in which a variable of dtype `variable` is updated: its own or, if the optimizer's epsilon underflows to
  /// 0 in it, float32 at least, since an update divides by epsilon where a gradient is 0.
  virtual DType dtypeFor(DType variable) const;
  /// The divisor of an update where a gradient is 0; nullopt if the rule has none.
  virtual std::optional<double> minDivisor() const { return std::nullopt; }
  /// Records the update of one variable. `gradient` has the update's dtype; `slots` are in the order of slotGroups().
  virtual void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
                      const Scalars &scalars) const = 0;
  /// The fields "name" and "learning_rate".
  Config config() const override;

private:
  /// The variables with averages, and the whole averages; none before the first one.
  struct Averaged {
    std::vector<VariableHandle> weights;
    std::vector<Variable> slots;
    std::vector<Tensor> averages;
  };
  Averaged averagedOf(const std::vector<Variable> &variables) const;
  /// Writes weights and averages atomically; without averages the slots are unchanged.
  void writeAverages(const Averaged &averaged, const std::vector<Tensor> &weights,
                     const std::vector<Tensor> &averages) const;
  Value lossScaleFactor() const; // a constant
  size_t indexOf(const Variable &variable) const;
  bool decays(const Variable &variable) const;
  Variable makeSlot(const Variable &variable, const SlotSpec &slot);
  bool clipsByNorm() const;
  void divide(const std::vector<Variable> &variables);
  void makeVariables(const std::vector<Variable> &variables);
  void forgetVariables();
  void takeMagnitudes(std::vector<Value> &gradients, std::vector<Variable> &variables) const;
  std::vector<Value> clipped(std::vector<Value> gradients) const;
  void overwrite(const Variable &variable, const Value &gradient, const Value &updates) const;
  BeforePlay::Begin computeRate() const;
  BeforePlay rateBefore(std::shared_ptr<const int64_t> updates);
  void feedSchedule(Trace &trace);
  void beginCopies(const Value &updatesBefore) const;
  void updateAll(std::vector<Value> gradients, std::vector<Variable> variables, const Value &updatesBefore);
  void average(const Value &updatesBefore) const;

  RuleArgs args_;
  LearningRate schedule_;
  Variable iterations_, rate_;       // iterations_: apply() calls; with accumulation only some of them update
  std::unique_ptr<RateTable> rates_; // for a schedule with a class, which depends only on the step
  std::vector<Variable> undecayed_;
  std::optional<PathPattern> undecayedNames_; // matches if one of the given expressions occurs in the name
  StateOnDemand state_;                       // made when the variables below exist
  OptimizerParts parts_;
  std::vector<Variable> slots_; // in Keras's order
  std::vector<Variable> known_; // the variables of the first apply()
  std::map<const VariableImpl *, size_t> index_;
  std::vector<std::vector<Variable>> slotsOf_;        // indexed by variable
  std::vector<std::pair<Variable, Variable>> copies_; // slots initialized as copies, and their variables
  std::vector<Variable> averages_, accumulators_;     // indexed by variable; undefined if none
  std::atomic<bool> areExchanged_ = false;
};

/// The rule of the optimizer with arguments `Args`.
template <class Args> class RuleOf : public UpdateRule {
public:
  /// `name` is used if the arguments have none.
  RuleOf(const char *className, const char *name, const LearningRate &rate, const Args &args)
      : UpdateRule(className, ruleArgs(args, name), rate), args_(args) {}
  Config config() const override {
    Config config = UpdateRule::config();
    writeFields(config, args_, sharedFields<Args>);
    writeFields(config, args_, ownFields<Args>);
    return config;
  }
  void dropLossScaleFactor() override {
    args_.loss_scale_factor.reset();
    UpdateRule::dropLossScaleFactor();
  }

protected:
  std::optional<double> minDivisor() const override {
    if constexpr (requires { args_.epsilon; })
      return args_.epsilon;
    else
      return std::nullopt;
  }
  Args args_;
};

} // namespace halftone::detail
