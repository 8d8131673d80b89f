// RMSprop, plain or centered, with momentum.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class RmsPropRule final : public UpdateRule {
public:
  RmsPropRule(const LearningRate &rate, const optimizers::RMSpropArgs &args)
      : UpdateRule("RMSprop", ruleArgs(args, "rmsprop"), rate), rho_(args.rho), momentum_(args.momentum),
        epsilon_(args.epsilon), centered_(args.centered) {}

private:
  std::vector<std::vector<const char *>> slotGroups() const override {
    std::vector<std::vector<const char *>> groups{{"velocity"}};
    if (momentum_ > 0.0)
      groups.push_back({"momentum"});
    if (centered_)
      groups.push_back({"average_gradient"});
    return groups;
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value velocity = rho_ * readRaw(slots[0]) + (1.0 - rho_) * ops::square(gradient);
    slots[0].assign(velocity);
    Value denominator = velocity;
    if (centered_) {
      const Variable &average = slots.back();
      Value mean = rho_ * readRaw(average) + (1.0 - rho_) * gradient;
      average.assign(mean);
      denominator = denominator - ops::square(mean);
    }
    Value increment = scalars.rate * gradient / ops::sqrt(denominator + epsilon_);
    if (momentum_ > 0.0) {
      increment = momentum_ * readRaw(slots[1]) + increment;
      slots[1].assign(increment);
    }
    variable.assign(readRaw(variable) - increment);
  }
  void addConfig(Config &config) const override {
    config.set("rho", rho_);
    config.set("momentum", momentum_);
    config.set("epsilon", epsilon_);
    config.set("centered", centered_);
  }
  double rho_, momentum_, epsilon_;
  bool centered_;
};

} // namespace

optimizers::RMSprop::RMSprop(const LearningRate &learning_rate, const RMSpropArgs &args)
    : Optimizer(std::make_shared<RmsPropRule>(learning_rate, args)) {}

} // namespace halftone
