// Adafactor: stores the mean squares of a matrix only per row and per column.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Ops.h"
#include <cmath>

namespace halftone {
using namespace detail;

namespace {

class AdafactorRule final : public RuleOf<optimizers::AdafactorArgs> {
public:
  using RuleOf::RuleOf;

private:
  bool isElementwise() const override { return false; }
  std::vector<std::vector<SlotSpec>> slotGroups(const Variable &variable) const override {
    const Shape shape = variable.shape();
    if (shape.rank() < 2) // Keras's list has a row and a column here too, as unused scalars
      return {{{"row", 0.0, Shape()}, {"column", 0.0, Shape()}, {"velocity"}}};
    std::vector<int64_t> rows = shape.dims(), columns = rows;
    rows.pop_back();
    columns.erase(columns.end() - 2);
    return {{{"row", 0.0, Shape(rows)}, {"column", 0.0, Shape(columns)}, {"velocity"}}};
  }
  std::vector<std::vector<SlotSpec>> overwrittenSlotGroups(const Variable &variable) const override {
    if (variable.shape().rank() < 2)
      return {{{"row", 0.0, Shape()}, {"column", 0.0, Shape()}}};
    return {};
  }
  DType dtypeFor(DType variable) const override { return atLeastFloat32(variable); }
  /// The rate before scaling by the variable, and the decay of the mean squares.
  std::vector<Value> derivedOf(const Value &rate, const Value &step) const override {
    Value bound = 1.0 / ops::sqrt(step);
    return {ops::minimum(rate, bound), 1.0 - ops::power(step, scalarLike(args_.beta_2_decay, step))};
  }
  void update(const Value &gradient, const Variable &variable, const std::vector<Variable> &slots,
              const Scalars &scalars) const override {
    auto wide = [&](const Variable &v) { return readAs(gradient, v); };
    Value x = wide(variable), square = ops::square(gradient) + args_.epsilon_1, keep = scalars.derived[1];
    auto kept = [&](const Variable &slot, const Value &now) {
      Value next = keep * wide(slot) + (1.0 - keep) * now;
      slot.assign(next);
      return next;
    };
    Value velocity;
    if (x.rank() < 2) {
      velocity = kept(slots[2], square);
    } else {
      Value rows = kept(slots[0], ops::mean(square, -1)), columns = kept(slots[1], ops::mean(square, -2));
      velocity = ops::expand_dims(rows / ops::mean(rows, -1, true), -1) * ops::expand_dims(columns, -2);
      slots[2].assign(velocity);
    }
    Value step = gradient / ops::sqrt(velocity), excess = rootMeanSquare(step) / args_.clip_threshold;
    Value length = rootMeanSquare(x);
    Value size = ops::maximum(length, ops::full_like(length, args_.epsilon_2)) * scalars.derived[0];
    variable.assign(x - size * (step / ops::maximum(excess, ops::ones_like(excess))));
  }
  static Value rootMeanSquare(const Value &x) {
    return norm({x}) / std::sqrt(static_cast<double>(x.shape().elements()));
  }
};

} // namespace

optimizers::Adafactor::Adafactor(const LearningRate &learning_rate, const AdafactorArgs &args)
    : Optimizer(std::make_shared<AdafactorRule>("Adafactor", "adafactor", learning_rate, args)) {}

} // namespace halftone
