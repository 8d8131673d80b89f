// Adam, and AdamW: the same with decoupled weight decay.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"

namespace halftone {
using namespace detail;

namespace {

class AdamRule final : public UpdateRule {
public:
  template <class Args>
  AdamRule(const char *className, const char *name, const LearningRate &rate, const Args &args)
      : UpdateRule(className, ruleArgs(args, name), rate), beta1_(args.beta_1), beta2_(args.beta_2),
        epsilon_(args.epsilon), amsgrad_(args.amsgrad) {}

private:
  std::vector<std::vector<const char *>> slotGroups() const override {
    std::vector<std::vector<const char *>> groups{{"momentum", "velocity"}};
    if (amsgrad_)
      groups.push_back({"velocity_hat"});
    return groups;
  }
  Value alphaOf(const Value &rate, const Value &step) const override {
    Value power1 = ops::power(scalarLike(beta1_, step), step), power2 = ops::power(scalarLike(beta2_, step), step);
    return rate * ops::sqrt(1.0 - power2) / (1.0 - power1);
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value m = readRaw(slots[0]), v = readRaw(slots[1]);
    m = m + (gradient - m) * (1.0 - beta1_);
    v = v + (ops::square(gradient) - v) * (1.0 - beta2_);
    slots[0].assign(m);
    slots[1].assign(v);
    if (amsgrad_) {
      v = ops::maximum(readRaw(slots[2]), v);
      slots[2].assign(v);
    }
    variable.assign(readRaw(variable) - m * scalars.alpha / (ops::sqrt(v) + epsilon_));
  }
  void addConfig(Config &config) const override {
    config.set("beta_1", beta1_);
    config.set("beta_2", beta2_);
    config.set("epsilon", epsilon_);
    config.set("amsgrad", amsgrad_);
  }
  double beta1_, beta2_, epsilon_;
  bool amsgrad_;
};

} // namespace

optimizers::Adam::Adam(const LearningRate &learning_rate, const AdamArgs &args)
    : Optimizer(std::make_shared<AdamRule>("Adam", "adam", learning_rate, args)) {}
optimizers::AdamW::AdamW(const LearningRate &learning_rate, const AdamWArgs &args)
    : Optimizer(std::make_shared<AdamRule>("AdamW", "adamw", learning_rate, args)) {}

} // namespace halftone
