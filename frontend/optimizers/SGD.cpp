// Stochastic gradient descent, with momentum and Nesterov's.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"

namespace halftone {
using namespace detail;

namespace {

class SgdRule final : public UpdateRule {
public:
  SgdRule(const LearningRate &rate, const optimizers::SGDArgs &args)
      : UpdateRule("SGD", ruleArgs(args, "SGD"), rate), momentum_(args.momentum), nesterov_(args.nesterov) {}

private:
  std::vector<std::vector<const char *>> slotGroups() const override {
    return momentum_ == 0.0 ? std::vector<std::vector<const char *>>{}
                            : std::vector<std::vector<const char *>>{{"momentum"}};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    Value step = gradient * scalars.rate, x = readRaw(variable);
    if (momentum_ == 0.0) {
      variable.assign(x - step);
      return;
    }
    Value m = readRaw(slots[0]) * momentum_ - step;
    slots[0].assign(m);
    variable.assign(x + (nesterov_ ? m * momentum_ - step : m));
  }
  void addConfig(Config &config) const override {
    config.set("momentum", momentum_);
    config.set("nesterov", nesterov_);
  }
  double momentum_;
  bool nesterov_;
};

} // namespace

optimizers::SGD::SGD(const LearningRate &learning_rate, const SGDArgs &args)
    : Optimizer([&] {
        if (!(args.momentum >= 0.0 && args.momentum <= 1.0))
          throw Error(ErrorKind::value_error, "`momentum` must be a float between [0, 1].");
        return std::make_shared<SgdRule>(learning_rate, args);
      }()) {}

} // namespace halftone
