// Lion: the sign of a momentum.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

class LionRule final : public RuleOf<optimizers::LionArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override { return {{{"momentum"}}}; }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value m = readRaw(slots[0]);
    // Keras rounds the factor to the variable's dtype and subtracts it from 1: in bfloat16, 0.98828 and 0.01172.
    auto mixed = [&](double share) {
      Value kept = scalarLike(share, m);
      return m * kept + gradient * (1.0 - kept);
    };
    variable.assign(readRaw(variable) - scalars.rate * ops::sign(mixed(args_.beta_1)));
    slots[0].assign(mixed(args_.beta_2));
  }
};

} // namespace

optimizers::Lion::Lion(const LearningRate &learning_rate, const LionArgs &args)
    : Optimizer([&] {
        if (!(args.beta_1 > 0.0 && args.beta_1 <= 1.0))
          throw Error(ErrorKind::value_error,
                      fmt::format("Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates "
                                  "to SignSGD. Received: beta_1={}.",
                                  args.beta_1));
        return std::make_shared<LionRule>("Lion", "lion", learning_rate, args);
      }()) {}

} // namespace halftone
