// LAMB: Adam's step, scaled to the norm of the variable times the rate.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class LambRule final : public RuleOf<optimizers::LambArgs> {
public:
  using RuleOf::RuleOf;

private:
  bool isElementwise() const override { return false; }
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  std::vector<Value> derivedOf(const Value &, const Value &step) const override {
    return {1.0 - ops::power(scalarLike(args_.beta_1, step), step),
            1.0 - ops::power(scalarLike(args_.beta_2, step), step)};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value x = readAs(gradient, variable), m = moveTo(slots[0], gradient, 1.0 - args_.beta_1);
    Value v = moveTo(slots[1], ops::square(gradient), 1.0 - args_.beta_2);
    Value step = m / scalars.derived[0] / (ops::sqrt(v / scalars.derived[1]) + args_.epsilon);
    Value length = norm({x}), stepLength = norm({step}), one = ops::ones_like(length), zero = ops::zeros_like(length);
    Value known = ops::logical_and(ops::greater(length, zero), ops::greater(stepLength, zero));
    Value ratio = ops::where(known, length / stepLength, one);
    variable.assign(x - scaledBy(scalars.rate * step, ratio));
  }
};

} // namespace

optimizers::Lamb::Lamb(const LearningRate &learning_rate, const LambArgs &args)
    : Optimizer(std::make_shared<LambRule>("Lamb", "lamb", learning_rate, args)) {}

} // namespace halftone
