// Adam, and AdamW, which adds decoupled weight decay.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

template <class Args> class AdamRule final : public RuleOf<Args> {
public:
  using RuleOf<Args>::RuleOf;

private:
  using RuleOf<Args>::args_;
  using typename UpdateRule::Scalars;
  using typename UpdateRule::SlotSpec;
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    std::vector<std::vector<SlotSpec>> groups{{{"momentum"}, {"velocity"}}};
    if (args_.amsgrad)
      groups.push_back({{"velocity_hat"}});
    return groups;
  }
  std::vector<Value> derivedOf(const Value &rate, const Value &step) const override {
    Value power1 = ops::power(scalarLike(args_.beta_1, step), step),
          power2 = ops::power(scalarLike(args_.beta_2, step), step);
    return {rate * ops::sqrt(1.0 - power2) / (1.0 - power1)};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value m = moveTo(slots[0], gradient, 1.0 - args_.beta_1);
    Value v = moveTo(slots[1], ops::square(gradient), 1.0 - args_.beta_2);
    if (args_.amsgrad) {
      v = ops::maximum(readAs(gradient, slots[2]), v);
      slots[2].assign(v);
    }
    variable.assign(readAs(gradient, variable) - m * scalars.derived[0] / (ops::sqrt(v) + args_.epsilon));
  }
};

} // namespace

optimizers::Adam::Adam(const LearningRate &learning_rate, const AdamArgs &args)
    : Optimizer(std::make_shared<AdamRule<AdamArgs>>("Adam", "adam", learning_rate, args)) {}
optimizers::AdamW::AdamW(const LearningRate &learning_rate, const AdamWArgs &args)
    : Optimizer(std::make_shared<AdamRule<AdamWArgs>>("AdamW", "adamw", learning_rate, args)) {}

} // namespace halftone
