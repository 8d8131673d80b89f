// Adagrad: steps that shrink as squared gradients accumulate.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class AdagradRule final : public RuleOf<optimizers::AdagradArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{"accumulator", args_.initial_accumulator_value}}};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value sum = readAs(gradient, slots[0]) + ops::square(gradient);
    slots[0].assign(sum);
    variable.assign(readAs(gradient, variable) - scalars.rate * gradient / ops::sqrt(sum + args_.epsilon));
  }
};

} // namespace

optimizers::Adagrad::Adagrad(const LearningRate &learning_rate, const AdagradArgs &args)
    : Optimizer(std::make_shared<AdagradRule>("Adagrad", "adagrad", learning_rate, args)) {}

} // namespace halftone
