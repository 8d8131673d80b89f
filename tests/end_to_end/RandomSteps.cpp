// Random steps that update variables several times: one function with all updates equals one function per update.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <random>
#include <string>

using namespace halftone;

namespace {

constexpr int64_t extent = 4;
enum class Kind : uint8_t {
  minimize,
  minimizeAgain, // with the optimizer of an earlier statement
  descend,
  penalize,
  copy,
  swap,
  average,
  hold,
  useHeld,
  mark,
  choose,
  follow,
  observe,
  normalize,
  drop,
  quantize
};
constexpr int kinds = 16;
struct Statement {
  Kind kind;
  int a, b, way;
};

std::vector<Statement> statementsOf(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); };
  std::vector<Statement> statements(3 + below(6));
  for (Statement &each : statements)
    each = {static_cast<Kind>(below(kinds)), below(3), below(3), below(60)};
  return statements;
}

/// The variables, layers and optimizers on which statements operate.
class World {
public:
  /// With `isOne` all statements are recorded in one function, so that held values are Values.
  World(uint32_t seed, bool isOne)
      : isOne(isOne), target(dense(seed)), online(dense(seed + 1)), normal(layers::BatchNormalization()),
        dropping(layers::Dropout(0.5, {.seed = 7})), eighth(layers::Dense(extent, {.dtype = "float8_from_float32"})) {
    set_random_seed(seed);
    for (const Layer &layer : {normal, dropping, eighth})
      (void)layer(Tensor::zeros({2, extent}));
    std::mt19937 random(seed);
    const auto matrix = [&] {
      std::vector<float> values(extent * extent);
      for (float &value : values)
        value = static_cast<float>(static_cast<int>(random() % 33) - 16) / 16;
      return Variable(Tensor(std::span<const float>(values), {extent, extent}));
    };
    for (int i = 0; i < 3; ++i)
      weights.push_back(matrix());
    for (int i = 0; i < 3; ++i)
      saved.push_back(matrix());
    seen = matrix();
    flag = Variable(Tensor::full({}, 1, DType::bool_));
  }

  void run(const std::vector<Statement> &statements, size_t index, const Value &x) {
    const Statement &each = statements[index];
    const Variable &a = weights[each.a], &b = weights[each.b];
    switch (each.kind) {
    case Kind::minimize:
      optimizerOf(statements, index).minimize(loss(each, x), trained(each));
      break;
    case Kind::minimizeAgain: {
      size_t owner = index;
      for (size_t before = 0; before < index; ++before)
        if (statements[before].kind == Kind::minimize)
          owner = before;
      optimizerOf(statements, owner).minimize(loss(each, x), trained(statements[owner]));
      break;
    }
    case Kind::descend:
      a.assign(a - gradients(loss(each, x), std::vector<Variable>{a})[0] * 0.125);
      break;
    case Kind::penalize: {
      const Value point = ops::cast(ops::tanh(x), float32);
      const Value slope = gradients(ops::sum(ops::tanh(ops::matmul(point, a))), std::vector<Value>{point})[0];
      b.assign(b - gradients(ops::sum(ops::square(slope) * ops::matmul(x, b)), std::vector<Variable>{b})[0] * 0.125);
      break;
    }
    case Kind::copy:
      a.assign(Value(b));
      break;
    case Kind::swap: {
      const Value old = a;
      a.assign(Value(b));
      b.assign(old);
      break;
    }
    case Kind::average:
      a.assign(a * 0.75 + b * 0.25);
      break;
    case Kind::hold:
      if (isOne)
        held[each.b] = ops::stop_gradient(a); // detached from the variable, like a saved value
      else
        saved[each.b].assign(Value(a));
      break;
    case Kind::useHeld:
      a.assign(ops::tanh(ops::cast(ops::matmul(read(b, each.way), narrowed(heldOf(each.b), each.way)), float32)));
      break;
    case Kind::mark:
      flag.assign(ops::greater(ops::sum(a), ops::sum(b)));
      break;
    case Kind::choose:
      a.assign(ops::where(flag, b, ops::tanh(Value(a) * 1.5)));
      break;
    case Kind::follow:
      for (size_t i = 0; i < online.variables().size(); ++i)
        target.variables()[i].assign(each.way % 2 ? Value(online.variables()[i])
                                                  : target.variables()[i] * 0.5 + online.variables()[i] * 0.5);
      break;
    case Kind::observe:
      seen.assign(ops::tanh(seen * 0.5 + ops::cast(ops::sum(target(x) + online(x)), float32) +
                            ops::cast(ops::matmul(read(a, each.way), read(b, each.way)), float32)));
      break;
    case Kind::normalize: // assigns the moving averages
      seen.assign(ops::tanh(seen + ops::sum(normal(ops::matmul(x, a), {.training = each.way % 2 == 0}))));
      break;
    case Kind::drop: // assigns the counter of its seed
      a.assign(a * 0.5 + ops::mean(dropping(ops::matmul(x, b), {.training = true})));
      break;
    case Kind::quantize: // the optimizer assigns the scales of the layer
      optimizerOf(statements, index)
          .minimize(ops::mean(ops::square(ops::cast(eighth(ops::matmul(x, a)), float32))),
                    eighth.trainable_variables());
    }
  }

  std::vector<Variable> variables() const {
    std::vector<Variable> all = weights;
    all.push_back(seen);
    all.push_back(flag);
    for (const Layer &layer : {target, online, normal, dropping, eighth})
      for (const Variable &variable : layer.variables())
        all.push_back(variable);
    for (const auto &[index, optimizer] : optimizers)
      for (const Variable &variable : optimizer.variables())
        all.push_back(variable);
    return all;
  }
  void forgetHeld() { held = {}; }
  std::vector<Tensor> savedValues() const {
    std::vector<Tensor> values;
    for (const Variable &variable : saved)
      values.push_back(variable.value());
    return values;
  }
  void restoreSaved(const std::vector<Tensor> &values) const {
    for (size_t i = 0; i < saved.size(); ++i)
      saved[i].assign(values[i]);
  }

private:
  static Layer dense(uint32_t seed) {
    set_random_seed(seed);
    const char *policy = std::array{"float32", "mixed_bfloat16", "mixed_float16"}[seed % 3];
    const layers::Dense layer(extent, {.activation = "tanh", .dtype = policy});
    (void)layer(Tensor::zeros({2, extent}));
    return layer;
  }
  static DType narrow(int way) { return way % 2 ? bfloat16 : float16; }
  /// A weight in a narrow dtype, through autocast or a cast.
  static Value read(const Variable &variable, int way) {
    if (way % 3)
      return ops::cast(variable, narrow(way));
    const AutocastScope scope(narrow(way));
    return variable;
  }
  static Value narrowed(const Value &value, int way) { return ops::cast(value, narrow(way)); }
  Value heldOf(int number) { return isOne && held[number].defined() ? held[number] : Value(saved[number]); }

  Value loss(const Statement &each, const Value &x) {
    const Variable &a = weights[each.a], &b = weights[each.b];
    const Value product = ops::cast(ops::matmul(read(a, each.way), read(b, each.way + 1 - each.way % 2 * 2)), float32);
    switch (each.way % 5) {
    case 0:
      return ops::mean(ops::square(ops::tanh(ops::matmul(x, a)) - ops::matmul(x, b)));
    case 1:
      return ops::mean(ops::square(ops::tanh(product) - 0.5)) + ops::mean(ops::square(a));
    case 2:
      if (each.way % 2)
        return ops::mean(ops::square(normal(ops::matmul(x, a), {.training = true}))) + ops::mean(a * b);
      return ops::mean(ops::square(ops::cast(online(x) - ops::stop_gradient(target(x)), float32))) + ops::mean(a * b);
    case 3:
      return ops::mean(ops::square(ops::cast(target(ops::matmul(x, a)), float32) - ops::matmul(x, b)));
    default:
      return ops::mean(ops::tanh(ops::matmul(a, heldOf(each.b))) * b);
    }
  }
  std::vector<Variable> trained(const Statement &each) const {
    std::vector<Variable> list{weights[each.a]};
    if (each.way % 4 == 0 && each.a != each.b)
      list.push_back(weights[each.b]);
    if (each.way % 10 == 2)
      for (const Variable &variable : online.variables())
        list.push_back(variable);
    return list;
  }
  /// The optimizer of the statement at `index`, created on first use.
  const Optimizer &optimizerOf(const std::vector<Statement> &statements, size_t index) {
    if (auto known = optimizers.find(index); known != optimizers.end())
      return known->second;
    return optimizers.emplace(index, made(statements[index].way)).first->second;
  }
  static Optimizer made(int way) {
    using namespace halftone::optimizers;
    switch (way % 9) {
    case 0:
      return SGD(0.125);
    case 1:
      return SGD(0.125, {.momentum = 0.5});
    case 2:
      return Adam(0.0625);
    case 3:
      return SGD(schedules::InverseTimeDecay(0.25, 1, 0.5));
    case 4:
      return LossScaleOptimizer(SGD(0.125), {.initial_scale = 8.0});
    case 5:
      return LossScaleOptimizer(Adam(0.0625));
    case 6:
      return SGD(0.25, {.gradient_accumulation_steps = 2});
    case 7:
      return Adam(0.0625, {.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2});
    default:
      return LossScaleOptimizer(SGD(schedules::InverseTimeDecay(0.25, 1, 0.5), {.gradient_accumulation_steps = 2}));
    }
  }

  bool isOne;
  std::vector<Variable> weights, saved;
  Variable seen, flag;
  Layer target, online, normal, dropping, eighth;
  std::array<Value, 3> held;
  std::map<size_t, Optimizer> optimizers;
};

Tensor batch(int64_t number) {
  std::vector<float> values(2 * extent);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((number * 5 + static_cast<int64_t>(i) * 3) % 11 - 5) / 8;
  return Tensor(std::span<const float>(values), {2, extent});
}

constexpr int64_t runs = 3;

std::vector<Tensor> together(uint32_t seed, const std::vector<Statement> &statements, Numerics numerics) {
  World world(seed, true);
  auto step = jit(
      [&](const Value &x) -> Value {
        for (size_t i = 0; i < statements.size(); ++i)
          world.run(statements, i, x);
        world.forgetHeld();
        return x;
      },
      {.numerics = numerics});
  for (int64_t run = 0; run < runs; ++run)
    (void)step(batch(run));
  std::vector<Tensor> values;
  for (const Variable &variable : world.variables())
    values.push_back(variable.value());
  return values;
}

/// One function per statement. A value that is held for a later statement is saved in a variable. A single function of
/// all statements reads this variable as it was before the run if nothing has been held yet.
std::vector<Tensor> apart(uint32_t seed, const std::vector<Statement> &statements, Numerics numerics) {
  World world(seed, false);
  const auto record = [&](size_t index) {
    return jit(
        [&world, &statements, index](const Value &x) -> Value {
          world.run(statements, index, x);
          return x;
        },
        {.numerics = numerics});
  };
  std::vector<decltype(record(0))> steps;
  for (size_t i = 0; i < statements.size(); ++i)
    steps.push_back(record(i));
  const std::vector<Tensor> before = world.savedValues();
  for (int64_t run = 0; run < runs; ++run) {
    for (const auto &step : steps)
      (void)step(batch(run));
    world.restoreSaved(before);
  }
  std::vector<Tensor> values;
  for (const Variable &variable : world.variables())
    values.push_back(variable.value());
  return values;
}

/// The first difference in bits, or in fast numerics the first one beyond roundings; "" if there is none.
std::string difference(const std::vector<Tensor> &a, const std::vector<Tensor> &b, bool isStrict) {
  for (size_t i = 0; i < a.size(); ++i) {
    const std::vector<float> ours = a[i].astype(float32).to_vector<float>(),
                             theirs = b[i].astype(float32).to_vector<float>();
    for (size_t j = 0; j < ours.size(); ++j)
      if (isStrict ? std::memcmp(&ours[j], &theirs[j], sizeof(float)) != 0
                   : !(std::abs(ours[j] - theirs[j]) <= 0.02f * (1 + std::abs(theirs[j]))))
        return fmt::format("variable {}, element {}: {} together, {} apart", i, j, ours[j], theirs[j]);
  }
  return "";
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Random steps of several updates: one function of all against a function for each");
  uint32_t seed = 1, count = 20;
  app.add_option("--seed", seed, "the first seed; each program has the next");
  app.add_option("--count", count, "how many programs");
  CLI11_PARSE(app, argc, argv);
  uint32_t bad = 0;
  for (uint32_t each = seed; each < seed + count; ++each)
    for (const Numerics numerics : {Numerics::strict, Numerics::fast}) {
      const bool isStrict = numerics == Numerics::strict;
      if (!isStrict && each % 3 != 0)
        continue; // fast numerics keep narrow values wide within a function
      const std::vector<Statement> statements = statementsOf(each);
      try {
        const std::string first =
            difference(together(each, statements, numerics), apart(each, statements, numerics), isStrict);
        if (first.empty())
          continue;
        std::cout << fmt::format("seed {}{}: {}", each, isStrict ? ", strict" : "", first);
      } catch (const Error &error) {
        std::cout << fmt::format("seed {}{}: {}", each, isStrict ? ", strict" : "", error.what());
      }
      ++bad;
      for (const Statement &statement : statements)
        std::cout << fmt::format("\n  {} {} {} {}", static_cast<int>(statement.kind), statement.a, statement.b,
                                 statement.way);
      std::cout << std::endl;
    }
  std::cout << count << " programs, " << bad << " with findings" << std::endl;
  return bad ? 1 : 0;
}
