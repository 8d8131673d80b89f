// Nadam: Adam with Nesterov momentum, which increases over the first steps.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class NadamRule final : public RuleOf<optimizers::NadamArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  void makeState(DType dtype) override {
    product_ = optimizerScalar(name, "u_product", 1.0, dtype, VariableRole::slot);
  }
  std::vector<Variable> state() const override {
    return product_.defined() ? std::vector<Variable>{product_} : std::vector<Variable>{};
  }
  Value momentumAt(const Value &step) const {
    return args_.beta_1 * (1.0 - 0.5 * ops::power(scalarLike(0.96, step), step));
  }
  void advance(const Value &step) const override {
    product_.assign(readRaw(product_) * momentumAt(asDtype(step, product_.dtype(), "optimizer")));
  }
  std::vector<Value> derivedOf(const Value &, const Value &step) const override {
    Value product = asDtype(readRaw(product_), step.dtype(), "optimizer"), next = momentumAt(step + 1.0);
    return {next / (1.0 - product * next), (1.0 - momentumAt(step)) / (1.0 - product),
            1.0 - ops::power(scalarLike(args_.beta_2, step), step)};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value m = moveTo(slots[0], gradient, 1.0 - args_.beta_1);
    Value v = moveTo(slots[1], ops::square(gradient), 1.0 - args_.beta_2);
    Value ahead = scalars.derived[0] * m + scalars.derived[1] * gradient;
    variable.assign(readAs(gradient, variable) -
                    ahead * scalars.rate / (ops::sqrt(v / scalars.derived[2]) + args_.epsilon));
  }
  Variable product_; // product of all momenta so far
};

} // namespace

optimizers::Nadam::Nadam(const LearningRate &learning_rate, const NadamArgs &args)
    : Optimizer(std::make_shared<NadamRule>("Nadam", "nadam", learning_rate, args)) {}

} // namespace halftone
