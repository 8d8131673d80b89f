// Stochastic gradient descent, with classical or Nesterov momentum.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"

namespace halftone {
using namespace detail;

namespace {

class SgdRule final : public RuleOf<optimizers::SGDArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return args_.momentum == 0.0 ? std::vector<std::vector<SlotSpec>>{}
                                 : std::vector<std::vector<SlotSpec>>{{{"momentum"}}};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value step = gradient * scalars.rate, x = readRaw(variable);
    if (args_.momentum == 0.0) {
      variable.assign(x - step);
      return;
    }
    Value m = readRaw(slots[0]) * args_.momentum - step;
    slots[0].assign(m);
    variable.assign(x + (args_.nesterov ? m * args_.momentum - step : m));
  }
};

} // namespace

optimizers::SGD::SGD(const LearningRate &learning_rate, const SGDArgs &args)
    : Optimizer([&] {
        if (!(args.momentum >= 0.0 && args.momentum <= 1.0))
          throw Error(ErrorKind::value_error, "`momentum` must be a float between [0, 1].");
        return std::make_shared<SgdRule>("SGD", "SGD", learning_rate, args);
      }()) {}

} // namespace halftone
