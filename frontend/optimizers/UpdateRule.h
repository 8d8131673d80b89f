// The part that optimizers share: state, slots, clipping, weight decay and Keras's order of all that.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/OptimizerImpl.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

struct RuleArgs {
  std::string name;
  std::optional<double> weightDecay, clipnorm, clipvalue, globalClipnorm, lossScaleFactor;
  bool useEma = false;
  double emaMomentum = 0.99;
  std::optional<int64_t> emaOverwriteFrequency{}, accumulationSteps{};
};
/// The arguments that every optimizer has; `name` is used when none was given.
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

class UpdateRule : public OptimizerImpl {
public:
  /// value_error when more than one clipping argument is given, or a number of steps is out of range.
  UpdateRule(std::string className, RuleArgs args, LearningRate learningRate);
  Value scaleLoss(const Value &loss) const override;
  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables) override;
  void finalize(const std::vector<Variable> &variables) const override;
  double learningRate() const override;
  void setLearningRate(double value) override;
  int64_t iterations() const override;
  std::vector<Variable> variables() const override;
  Config config() const override;
  void dropLossScaleFactor() override { args_.lossScaleFactor.reset(); }

protected:
  /// One step's numbers in a variable's dtype.
  struct Scalars {
    Value rate;
    Value alpha; // what alphaOf() gave
  };
  /// Slots by name. Those of a group are made variable by variable, one group after the other.
  virtual std::vector<std::vector<const char *>> slotGroups() const = 0;
  /// A number that a rule derives from the rate and from `step`, the count of this update from 1; undefined when it
  /// needs none.
  virtual Value alphaOf(const Value &rate, const Value &step) const;
  /// Records the update of one variable; `gradient` has its dtype, `slots` are in the order of slotGroups().
  virtual void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
                      const Scalars &scalars) const = 0;
  virtual void addConfig(Config &config) const = 0;

private:
  void build(const std::vector<Variable> &variables);
  size_t indexOf(const Variable &variable) const;
  std::vector<Value> clipped(std::vector<Value> gradients) const;
  void overwrite(const Variable &variable, const Value &gradient, const Value &updates) const;
  void updateAll(std::vector<Value> gradients, const std::vector<Variable> &variables, const Value &updatesBefore);
  void average(const Value &updatesBefore) const;

  RuleArgs args_;
  LearningRate schedule_;
  Variable iterations_, rate_; // calls of apply(), of which accumulation updates at some
  bool built_ = false;
  std::vector<Variable> slots_; // in Keras's order
  std::vector<Variable> known_; // those of the first apply()
  std::map<const VariableImpl *, size_t> index_;
  std::vector<std::vector<Variable>> slotsOf_;    // by variable
  std::vector<Variable> averages_, accumulators_; // by variable; undefined where it has none
};

} // namespace halftone::detail
