// Adamax: Adam with the maximum gradient in place of the mean square.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class AdamaxRule final : public RuleOf<optimizers::AdamaxArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override { return {{{"momentum"}, {"norm"}}}; }
  std::vector<Value> derivedOf(const Value &rate, const Value &step) const override {
    return {rate / (1.0 - ops::power(scalarLike(args_.beta_1, step), step))};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value m = moveTo(slots[0], gradient, 1.0 - args_.beta_1),
          largest = ops::maximum(args_.beta_2 * readAs(gradient, slots[1]), ops::abs(gradient));
    slots[1].assign(largest);
    variable.assign(readAs(gradient, variable) - scalars.derived[0] * m / (largest + args_.epsilon));
  }
};

} // namespace

optimizers::Adamax::Adamax(const LearningRate &learning_rate, const AdamaxArgs &args)
    : Optimizer(std::make_shared<AdamaxRule>("Adamax", "adamax", learning_rate, args)) {}

} // namespace halftone
