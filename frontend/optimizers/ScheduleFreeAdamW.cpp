// ScheduleFreeAdamW: Adam whose variables are averages over the path of its steps, without a schedule.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class ScheduleFreeRule final : public RuleOf<optimizers::ScheduleFreeAdamWArgs> {
public:
  using RuleOf::RuleOf;

private:
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &) const override {
    return {{{.name = "momentum", .isCopy = true}, {"velocity"}}};
  }
  /// In float16 epsilon would be 0, and in bfloat16 beta_2 would be 1.
  DType dtypeFor(DType variable) const override { return atLeastFloat32(variable); }
  /// The rate after warmup, the correction of the mean square, and the weight of the newest step in the average.
  std::vector<Value> derivedOf(const Value &rate, const Value &step) const override {
    const Value one = ops::ones_like(step);
    const Value warm = args_.warmup_steps > 0 ? ops::minimum(step / static_cast<double>(args_.warmup_steps), one) : one;
    return {rate * warm, one - ops::power(scalarLike(args_.beta_2, step), step), one / step};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    const Value &rate = scalars.derived[0], &correction = scalars.derived[1], &share = scalars.derived[2];
    // Keras rounds both to float32 before subtracting them from 1.
    const Value beta1 = scalarLike(args_.beta_1, gradient), beta2 = scalarLike(args_.beta_2, gradient);
    const auto wide = [&](const Variable &v) { return readAs(gradient, v); };
    const Value y = wide(variable), z = wide(slots[0]), v = wide(slots[1]);
    const Value velocity = v + (ops::square(gradient) - v) * (1.0 - beta2);
    const Value next = z - rate * gradient / (ops::sqrt(velocity / correction) + args_.epsilon);
    const Value mean = (y - (1.0 - beta1) * z) / beta1, nextMean = (1.0 - share) * mean + share * next;
    slots[0].assign(next);
    slots[1].assign(velocity);
    variable.assign((1.0 - beta1) * next + beta1 * nextMean);
  }
};

} // namespace

optimizers::ScheduleFreeAdamW::ScheduleFreeAdamW(const LearningRate &learning_rate, const ScheduleFreeAdamWArgs &args)
    : Optimizer(std::make_shared<ScheduleFreeRule>("ScheduleFreeAdamW", "schedule_free_adam_w", learning_rate, args)) {}

} // namespace halftone
