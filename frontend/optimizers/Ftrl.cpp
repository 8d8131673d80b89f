// FTRL: follow the regularized leader.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

class FtrlRule final : public RuleOf<optimizers::FtrlArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{"accumulator", args_.initial_accumulator_value}, {"linear"}}};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value x = readRaw(variable), sum = readRaw(slots[0]), linear = readRaw(slots[1]);
    auto powered = [&](const Value &v) { return ops::power(v, scalarLike(-args_.learning_rate_power, v)); };
    Value next = sum + ops::square(gradient);
    Value shrunk = gradient + 2.0 * args_.l2_shrinkage_regularization_strength * x;
    linear = linear + (shrunk - (powered(next) - powered(sum)) / scalars.rate * x); // in Keras's order of rounding
    Value l2 = args_.l2_regularization_strength + args_.beta / (2.0 * scalars.rate);
    Value quadratic = powered(next) / scalars.rate + 2.0 * l2;
    const double l1 = args_.l1_regularization_strength;
    slots[0].assign(next);
    slots[1].assign(linear);
    variable.assign((ops::clip(linear, -l1, l1) - linear) / quadratic);
  }
};

} // namespace

static void checkSign(const char *argument, double value, double sign) {
  if (value * sign < 0.0)
    throw Error(ErrorKind::value_error, fmt::format("`{}` needs to be {} or zero. Received: {}={}.", argument,
                                                    sign > 0 ? "positive" : "negative", argument, value));
}

optimizers::Ftrl::Ftrl(const LearningRate &learning_rate, const FtrlArgs &args)
    : Optimizer([&] {
        checkSign("initial_accumulator_value", args.initial_accumulator_value, 1);
        checkSign("learning_rate_power", args.learning_rate_power, -1);
        checkSign("l1_regularization_strength", args.l1_regularization_strength, 1);
        checkSign("l2_regularization_strength", args.l2_regularization_strength, 1);
        checkSign("l2_shrinkage_regularization_strength", args.l2_shrinkage_regularization_strength, 1);
        return std::make_shared<FtrlRule>("Ftrl", "ftrl", learning_rate, args);
      }()) {}

} // namespace halftone
