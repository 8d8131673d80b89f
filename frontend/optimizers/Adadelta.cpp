// Adadelta: steps scaled by the root mean square of previous steps.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class AdadeltaRule final : public RuleOf<optimizers::AdadeltaArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{"accumulated_grad"}, {"accumulated_delta_var"}}};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    auto root = [&](const Value &x) { return ops::sqrt(x + args_.epsilon); };
    auto averaged = [&](const Value &old, const Value &x) {
      return args_.rho * old + (1.0 - args_.rho) * ops::square(x);
    };
    Value gradients = averaged(readAs(gradient, slots[0]), gradient), steps = readAs(gradient, slots[1]);
    Value step = root(steps) * gradient / root(gradients);
    slots[0].assign(gradients);
    slots[1].assign(averaged(steps, step));
    variable.assign(readAs(gradient, variable) - scalars.rate * step);
  }
};

} // namespace

optimizers::Adadelta::Adadelta(const LearningRate &learning_rate, const AdadeltaArgs &args)
    : Optimizer(std::make_shared<AdadeltaRule>("Adadelta", "adadelta", learning_rate, args)) {}

} // namespace halftone
