// Muon: matrices are updated by their nearly orthogonalized momentum, all other variables as in Adam.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

class MuonRule final : public RuleOf<optimizers::MuonArgs> {
public:
  MuonRule(const LearningRate &rate, const optimizers::MuonArgs &args) : RuleOf("Muon", "muon", rate, args) {
    constexpr int64_t maxSteps = 100; // each adds three products to the program
    if (args.ns_steps < 0 || args.ns_steps > maxSteps)
      throw Error(ErrorKind::value_error, fmt::format("`ns_steps` must be in the range [0, {}]. Received: ns_steps={}",
                                                      maxSteps, args.ns_steps));
    for (const std::string &expression : args.exclude_layers)
      excluded_.emplace_back(expression);
  }

private:
  bool isElementwise() const override { return false; }
  bool isForAdam(const Variable &variable) const {
    if (variable.shape().rank() != 2)
      return true;
    std::string path = variable.path();
    if (std::ranges::any_of(excluded_, [&](const PathPattern &pattern) { return pattern.occursIn(path); }))
      return true;
    std::ranges::transform(path, path.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return args_.exclude_embeddings && path.find("embedding") != path.npos;
  }
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &variable) const override {
    if (isForAdam(variable))
      return {{{"momentum"}, {"velocity"}}};
    return {{{"momentum"}}};
  }
  std::optional<double> weightDecayOf(const Variable &variable) const override {
    return isForAdam(variable) ? args_.adam_weight_decay : args_.weight_decay;
  }
  std::vector<Value> derivedOf(const Value &rate, const Value &step) const override {
    const Value power1 = ops::power(scalarLike(args_.adam_beta_1, step), step),
                power2 = ops::power(scalarLike(args_.adam_beta_2, step), step);
    return {rate * args_.adam_lr_ratio * ops::sqrt(1.0 - power2) / (1.0 - power1)};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    const Value x = readAs(gradient, variable);
    if (slots.size() == 2) {
      const Value m = moveTo(slots[0], gradient, 1.0 - args_.adam_beta_1);
      const Value v = moveTo(slots[1], ops::square(gradient), 1.0 - args_.adam_beta_2);
      variable.assign(x - m * scalars.derived[0] / (ops::sqrt(v) + args_.epsilon));
      return;
    }
    const Value old = readAs(gradient, slots[0]), m = old + (gradient + old * (args_.momentum - 1.0));
    slots[0].assign(m);
    Value step = scalars.rate * orthogonal(args_.nesterov ? gradient + args_.momentum * m : m);
    if (args_.rms_rate)
      step = step * std::sqrt(static_cast<double>(std::max(x.shape()[0], x.shape()[1]))) * *args_.rms_rate;
    variable.assign(x - step);
  }
  /// The matrix with singular values near 1: some steps of the iteration x -> a x + (b s + c s s) x, where s = x x^T,
  /// starting from a matrix with norm 1. It uses the smaller of the two Gram matrices.
  Value orthogonal(const Value &matrix) const {
    const bool isTall = matrix.shape()[0] > matrix.shape()[1];
    const Value wide = isTall ? ops::transpose(matrix) : matrix;
    const Value length = asDtype(norm({wide}), wide.dtype(), "optimizer");
    Value x = wide / (length + 1e-7);
    for (int64_t i = 0; i < args_.ns_steps; ++i) {
      const Value square = ops::matmul(x, ops::transpose(x));
      const Value factor = args_.muon_b * square + ops::matmul(args_.muon_c * square, square);
      x = args_.muon_a * x + ops::matmul(factor, x);
    }
    return isTall ? ops::transpose(x) : x;
  }

  std::vector<PathPattern> excluded_;
};

} // namespace

optimizers::Muon::Muon(const LearningRate &learning_rate, const MuonArgs &args)
    : Optimizer(std::make_shared<MuonRule>(learning_rate, args)) {}

} // namespace halftone
