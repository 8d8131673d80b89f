// RMSprop, plain or centered, with momentum.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class RmsPropRule final : public RuleOf<optimizers::RMSpropArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    std::vector<std::vector<SlotSpec>> groups{{{"velocity"}}};
    if (args_.momentum > 0.0)
      groups.push_back({{"momentum"}});
    if (args_.centered)
      groups.push_back({{"average_gradient"}});
    return groups;
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value velocity = args_.rho * readAs(gradient, slots[0]) + (1.0 - args_.rho) * ops::square(gradient);
    slots[0].assign(velocity);
    Value denominator = velocity;
    if (args_.centered) {
      const Variable &average = slots.back();
      Value mean = args_.rho * readAs(gradient, average) + (1.0 - args_.rho) * gradient;
      average.assign(mean);
      denominator = denominator - ops::square(mean);
    }
    Value increment = scalars.rate * gradient / ops::sqrt(denominator + args_.epsilon);
    if (args_.momentum > 0.0) {
      increment = args_.momentum * readAs(gradient, slots[1]) + increment;
      slots[1].assign(increment);
    }
    variable.assign(readAs(gradient, variable) - increment);
  }
};

} // namespace

optimizers::RMSprop::RMSprop(const LearningRate &learning_rate, const RMSpropArgs &args)
    : Optimizer(std::make_shared<RmsPropRule>("RMSprop", "rmsprop", learning_rate, args)) {}

} // namespace halftone
