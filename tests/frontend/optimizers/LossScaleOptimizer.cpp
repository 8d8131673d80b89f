// Loss scaling: counts as in Keras, skipped steps, and 1,000 faults compared with a plain loop.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using optimizers::LossScaleOptimizer;
using optimizers::SGD;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

/// A recorded step that applies fed gradients.
detail::CompiledFunction applier(Run run, const Optimizer &optimizer, const std::vector<Variable> &variables) {
  return recorded(run, [optimizer, variables](const std::vector<Value> &v) {
    optimizer.apply(v, variables);
    return std::vector<Value>{};
  });
}

std::vector<std::vector<float>> bits(const std::vector<Variable> &variables) {
  std::vector<std::vector<float>> result;
  for (const Variable &variable : variables)
    result.push_back(variable.value().astype(float32).to_vector<float>());
  return result;
}
bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The rules for steps and for the scale, computed on the host.
struct HostScaler {
  float scale;
  int64_t growthSteps;
  int32_t counter = 0, skipped = 0;
  float floor = 1.0f, cap = 16777216.0f;
  bool step(const std::vector<std::vector<float>> &gradients) {
    bool finite = true;
    for (const auto &gradient : gradients)
      for (float x : gradient)
        finite = finite && std::isfinite(x);
    if (!finite) {
      counter = 0;
      ++skipped;
      if (scale > floor)
        scale = std::max(scale * 0.5f, floor);
    } else if (counter == growthSteps - 1) {
      counter = 0;
      if (scale < cap)
        scale = std::min(scale * 2.0f, cap);
    } else {
      ++counter;
    }
    return finite;
  }
};

/// Scaled gradients of two variables. About half of the steps contain a fault.
struct Faults {
  std::mt19937 random{20240607};
  int64_t faults = 0;
  std::vector<std::vector<float>> next(float scale) {
    std::uniform_real_distribution<float> number(-1.0f, 1.0f);
    std::vector<std::vector<float>> gradients{std::vector<float>(12), std::vector<float>(5)};
    for (auto &gradient : gradients)
      for (float &x : gradient)
        x = number(random) * scale;
    if (random() % 2) {
      auto &gradient = gradients[random() % 2];
      const float kinds[] = {inf, -inf, std::numeric_limits<float>::quiet_NaN()};
      gradient[random() % gradient.size()] = kinds[random() % 3];
      ++faults;
    }
    return gradients;
  }
};
std::vector<Tensor> tensors(const std::vector<std::vector<float>> &gradients) {
  return {Tensor(gradients[0], {4, 3}), Tensor(gradients[1], {5})};
}

} // namespace

TEST_CASE("a scaled step is the plain one") {
  for (Run run : everyRun)
    for (std::optional<double> factor : {std::optional<double>(), std::optional<double>(100.0)}) {
      Variable x = weight(Tensor({1, 2, 3, 4}, {4}));
      LossScaleOptimizer optimizer(SGD(0.5, {.loss_scale_factor = factor}));
      float s = 32768;
      applier(run, optimizer, {x}).run({Tensor({1 * s, 6 * s, 7 * s, 2 * s}, {4})});
      CHECK(numbers(x) == std::vector<double>{0.5, -1, -0.5, 3});
      CHECK(optimizer.iterations() == 1);
    }
}

// policies 13.2
TEST_CASE("LossScaleOptimizer counts steps as Keras does") {
  auto states = [](double scale, int64_t growth, std::vector<float> gradients, Run run) {
    Variable x = weight(Tensor({0}, {1}));
    LossScaleOptimizer optimizer(SGD(0.0), {.initial_scale = scale, .dynamic_growth_steps = growth});
    auto step = applier(run, optimizer, {x});
    std::vector<std::pair<int64_t, double>> found;
    for (float gradient : gradients) {
      step.run({Tensor({gradient}, {1})});
      found.emplace_back(optimizer.state().good_steps, optimizer.state().scale);
    }
    return found;
  };
  using States = std::vector<std::pair<int64_t, double>>;
  for (Run run : everyRun) {
    CHECK(states(4, 3, std::vector<float>(7, 1.0f), run) ==
          States{{1, 4}, {2, 4}, {0, 8}, {1, 8}, {2, 8}, {0, 16}, {1, 16}});
    CHECK(states(400, 2000, std::vector<float>(4, inf), run).back() == std::pair<int64_t, double>{0, 25});
    CHECK(states(2, 2, std::vector<float>(8, 1.0f), run).back() == std::pair<int64_t, double>{0, 32});
  }
}

TEST_CASE("a counter beyond the growth steps grows nothing until a fault") {
  Variable x = weight(Tensor({0}, {1}));
  LossScaleOptimizer optimizer(SGD(0.0), {.initial_scale = 8, .dynamic_growth_steps = 3});
  auto step = applier(Run::compiled, optimizer, {x});
  optimizer.variables()[2].assign(Tensor::full({}, 10, int32));
  for (int i = 0; i < 5; ++i)
    step.run({Tensor({1}, {1})});
  CHECK(optimizer.state().good_steps == 15);
  CHECK(optimizer.state().scale == 8);
  step.run({Tensor({inf}, {1})});
  CHECK(optimizer.state().good_steps == 0);
  CHECK(optimizer.state().scale == 4);
}

// policies 13.3
TEST_CASE("the scale keeps to its floor and its cap") {
  Variable x = weight(Tensor({1}, {1}));
  LossScaleOptimizer optimizer(SGD(0.0),
                               {.initial_scale = 4, .dynamic_growth_steps = 1, .min_scale = 3, .max_scale = 7});
  auto step = applier(Run::compiled, optimizer, {x});
  auto after = [&](float gradient) {
    step.run({Tensor({gradient}, {1})});
    return optimizer.state().scale;
  };
  CHECK(after(1) == 7);
  CHECK(after(1) == 7);
  CHECK(after(inf) == 3.5);
  CHECK(after(inf) == 3);
  CHECK(after(inf) == 3);
  LossScaleOptimizer outside(SGD(0.0), {.initial_scale = 0.25, .dynamic_growth_steps = 1});
  auto other = applier(Run::compiled, outside, {x});
  other.run({Tensor({inf}, {1})});
  CHECK(outside.state().scale == 0.25);
  other.run({Tensor({1}, {1})});
  CHECK(outside.state().scale == 0.5);
  for (optimizers::LossScaleArgs bad : {optimizers::LossScaleArgs{.initial_scale = 0.0},
                                        {.initial_scale = -4.0},
                                        {.dynamic_growth_steps = 0},
                                        {.dynamic_growth_steps = -2},
                                        {.initial_scale = NAN},
                                        {.min_scale = 0.0},
                                        {.min_scale = 2.0, .max_scale = 1.0},
                                        {.max_scale = INFINITY}})
    CHECK_THAT(errorOf([&] { LossScaleOptimizer(SGD(), bad); }), Contains("ValueError: LossScaleOptimizer needs"));
}

TEST_CASE("LossScaleOptimizer has its own variables and names and delegates the rest to the inner optimizer") {
  optimizers::Adam adam(0.25);
  LossScaleOptimizer optimizer(adam);
  Variable x = weight(Tensor({1}, {1}), "net/h/kernel");
  applier(Run::compiled, optimizer, {x}).run({Tensor({1}, {1})});
  std::vector<std::string> names;
  for (const Variable &variable : optimizer.variables())
    names.push_back(variable.path());
  CHECK(names == std::vector<std::string>{"loss_scale_optimizer/iteration", "loss_scale_optimizer/learning_rate",
                                          "loss_scale_optimizer/step_counter", "loss_scale_optimizer/dynamic_scale",
                                          "adam/iteration", "adam/learning_rate", "adam/net_h_kernel_momentum",
                                          "adam/net_h_kernel_velocity"});
  CHECK(numbers(optimizer.variables()[0]) == std::vector<double>{0}); // the step never counts
  CHECK(numbers(optimizer.variables()[1]) == std::vector<double>{0});
  CHECK(optimizer.iterations() == 1);
  CHECK(optimizer.learning_rate() == 0.25);
  optimizer.set_learning_rate(0.5);
  CHECK(adam.learning_rate() == 0.5);
  CHECK(optimizer.inner_optimizer().impl() == adam.impl());
  CHECK(optimizer.name() == "loss_scale_optimizer");
  Config config =
      LossScaleOptimizer(SGD(), {.initial_scale = 3, .dynamic_growth_steps = 2, .name = "test_opt"}).get_config();
  CHECK(config.keys() == std::vector<std::string>{"name", "inner_optimizer", "initial_scale", "dynamic_growth_steps"});
  CHECK(config.get_object("inner_optimizer").get_string("class_name") == "SGD");
  CHECK(detail::isLossScaleOptimizer(optimizer));
  CHECK_FALSE(detail::isLossScaleOptimizer(adam));
  CHECK(detail::asLossScaleOptimizer(optimizer).state().scale == 32768);
  CHECK_THAT(errorOf([&] { detail::asLossScaleOptimizer(adam); }), Contains("TypeError: optimizer 'adam' is no"));
}

TEST_CASE("LossScaleOptimizer counts a step without gradients as finite and refuses undefined gradients") {
  LossScaleOptimizer optimizer(SGD(1.0), {.initial_scale = 8});
  applier(Run::compiled, optimizer, {}).run({});
  CHECK(optimizer.state().good_steps == 1);
  CHECK(optimizer.iterations() == 0);
  Variable x = weight(Tensor({1}, {1}));
  CHECK_THAT(errorOf([&] {
               runOnce(Run::interpreted, {}, [&](const std::vector<Value> &) {
                 optimizer.apply({Value()}, {x});
                 return std::vector<Value>{};
               });
             }),
             Contains("No gradients provided for any variable."));
}

TEST_CASE("a fault changes no weight, slot or iteration, and training goes on") {
  for (Run run : everyRun)
    for (DType dtype : {float32, float16, bfloat16}) {
      Variable x = weight(Tensor({1, 2, 3}, {3}).astype(dtype)), y = weight(Tensor({4, 5}, {2}).astype(dtype));
      optimizers::AdamW inner(0.125, {.weight_decay = 0.01, .amsgrad = true, .clipnorm = 1.0});
      LossScaleOptimizer optimizer(inner, {.initial_scale = 1024});
      auto step = applier(run, optimizer, {x, y});
      auto gradients = [&](float a) {
        return std::vector<Tensor>{Tensor({1024, a, 2048}, {3}).astype(dtype), Tensor({512, 256}, {2}).astype(dtype)};
      };
      step.run(gradients(1024));
      std::vector<Variable> all = inner.variables();
      all.push_back(x);
      all.push_back(y);
      auto before = bits(all);
      step.run(gradients(inf));
      step.run(gradients(NAN));
      auto after = bits(all);
      for (size_t i = 0; i < before.size(); ++i)
        CHECK(sameBits(before[i], after[i]));
      CHECK(optimizer.state().scale == 256);
      CHECK(optimizer.state().skipped_steps == 2);
      CHECK(optimizer.state().good_steps == 0);
      step.run(gradients(256));
      CHECK(optimizer.iterations() == 2);
      CHECK_FALSE(sameBits(bits({x})[0], before[before.size() - 2]));
    }
}

TEST_CASE("1,000 random faults: bit for bit what a plain loop gives") {
  for (Run run : {Run::strict, Run::interpreted}) {
    int64_t wanted = run == Run::strict ? 1000 : 40;
    Faults source;
    Variable x = weight(Tensor::ones({4, 3})), y = weight(Tensor::ones({5}));
    SGD inner(0.01, {.momentum = 0.9});
    LossScaleOptimizer optimizer(inner, {.initial_scale = 1024, .dynamic_growth_steps = 2});
    auto step = applier(run, optimizer, {x, y});
    HostScaler host{1024, 2};
    std::vector<std::vector<float>> weights{std::vector<float>(12, 1.0f), std::vector<float>(5, 1.0f)},
        momenta{std::vector<float>(12), std::vector<float>(5)};
    int64_t updates = 0;
    bool equal = true;
    while (source.faults < wanted && equal) {
      auto gradients = source.next(host.scale);
      step.run(tensors(gradients));
      float scale = host.scale;
      if (host.step(gradients)) {
        ++updates;
        const float rate = 0.01f, momentum = 0.9f;
        for (size_t v = 0; v < 2; ++v)
          for (size_t i = 0; i < gradients[v].size(); ++i) {
            float unscaled = gradients[v][i] / scale, move = unscaled * rate;
            float kept = momenta[v][i] * momentum;
            momenta[v][i] = kept - move;
            weights[v][i] = weights[v][i] + momenta[v][i];
          }
      }
      auto found = bits({x, y, inner.variables()[2], inner.variables()[3]});
      equal = sameBits(found[0], weights[0]) && sameBits(found[1], weights[1]) && sameBits(found[2], momenta[0]) &&
              sameBits(found[3], momenta[1]) && optimizer.state().scale == host.scale &&
              optimizer.state().good_steps == host.counter && optimizer.state().skipped_steps == host.skipped &&
              optimizer.iterations() == updates;
    }
    INFO("fault " << source.faults);
    CHECK(equal);
    CHECK(source.faults == wanted);
    if (run == Run::strict)
      CHECK(step.compileCount() == 1);
  }
}

TEST_CASE("Adam under random faults is Adam on the steps that were finite") {
  Faults source;
  Variable x = weight(Tensor::ones({4, 3})), y = weight(Tensor::ones({5})), px = weight(Tensor::ones({4, 3})),
           py = weight(Tensor::ones({5}));
  optimizers::Adam inner(0.01), plain(0.01);
  LossScaleOptimizer optimizer(inner, {.initial_scale = 1024, .dynamic_growth_steps = 2});
  auto step = applier(Run::strict, optimizer, {x, y});
  auto reference = recorded(Run::strict, [&](const std::vector<Value> &v) {
    plain.apply({v[0] / v[2], v[1] / v[2]}, {px, py});
    return std::vector<Value>{};
  });
  HostScaler host{1024, 2};
  bool equal = true;
  while (source.faults < 200 && equal) {
    auto gradients = source.next(host.scale);
    step.run(tensors(gradients));
    std::vector<Tensor> feeds = tensors(gradients);
    feeds.push_back(Tensor::full({}, host.scale));
    if (host.step(gradients))
      reference.run(feeds);
    std::vector<Variable> left = inner.variables(), right = plain.variables();
    left.insert(left.end(), {x, y});
    right.insert(right.end(), {px, py});
    // The slot variables of the unscaled optimizer are created at its first finite step.
    auto a = bits(left), b = bits(right);
    equal = b.size() != a.size() || std::equal(a.begin(), a.end(), b.begin(), sameBits);
  }
  INFO("fault " << source.faults);
  CHECK(equal);
  CHECK(inner.iterations() == plain.iterations());
}

// policies 13.6
TEST_CASE("the last fault is named by its variable, whatever is applied and in which order") {
  for (Run run : everyRun)
    for (size_t count : {size_t(3), size_t(40)}) { // 40 flags exceed one kernel
      std::vector<Variable> variables;
      for (size_t i = 0; i < count; ++i)
        variables.push_back(weight(Tensor({0, 0}, {2}), "net/" + std::to_string(i)));
      LossScaleOptimizer optimizer(SGD(1.0));
      auto step = applier(run, optimizer, variables);
      auto faultAt = [&](std::vector<size_t> places) {
        std::vector<Tensor> gradients(count, Tensor::zeros({2}));
        for (size_t place : places)
          gradients[place] = Tensor({0, place % 2 ? inf : std::numeric_limits<float>::quiet_NaN()}, {2});
        step.run(gradients);
        return optimizer.state().last_fault;
      };
      CHECK(faultAt({}).empty());
      CHECK(faultAt({count - 1}) == variables.back().path());
      CHECK(faultAt({}) == variables.back().path()); // still the fault of the last skipped step
      CHECK(faultAt({1, 2}) == "net/1");
      CHECK(faultAt({0, count - 1}) == "net/0");
      std::vector<Variable> turned{variables[2], variables[0]};
      applier(run, optimizer, turned).run({Tensor({inf, 0}, {2}), Tensor::zeros({2})});
      CHECK(optimizer.state().last_fault == "net/2");
    }
}

namespace {

/// Records a step that minimizes a loss of two variables and a fed number, in one call or by unscale() and apply().
detail::CompiledFunction minimizer(Run run, const Optimizer &optimizer, const std::vector<Variable> &variables,
                                   bool inParts) {
  return recorded(run, [=](const std::vector<Value> &v) {
    Value loss = ops::sum(ops::square(variables[0]) * v[0]) + ops::sum(variables[1] * variables[1] * variables[1]);
    if (!inParts) {
      optimizer.minimize(loss, variables);
      return std::vector<Value>{};
    }
    std::vector<Value> found = optimizer.unscale(gradients(optimizer.scale_loss(loss), variables));
    optimizer.apply(found, variables, {.unscaled = true});
    return found;
  });
}

} // namespace

// policies 13.9
TEST_CASE("unscale() and apply() of its gradients are minimize(), in float32 at least") {
  const auto make = [](int kind) -> Optimizer {
    switch (kind) {
    case 0:
      return LossScaleOptimizer(SGD(0.0625), {.initial_scale = 48.0, .dynamic_growth_steps = 2});
    case 1:
      return LossScaleOptimizer(optimizers::AdamW(0.0625, {.clipnorm = 0.5, .gradient_accumulation_steps = 2}),
                                {.initial_scale = 64.0});
    case 2:
      return LossScaleOptimizer(SGD(0.0625, {.momentum = 0.5, .global_clipnorm = 0.25, .loss_scale_factor = 8.0}));
    default:
      return SGD(0.0625, {.clipvalue = 0.5, .loss_scale_factor = 100.0});
    }
  };
  for (Run run : {Run::strict, Run::interpreted})
    for (int kind = 0; kind < 4; ++kind)
      for (DType dtype : {float32, float16, bfloat16, float64}) {
        CAPTURE(kind, name(dtype));
        std::vector<std::vector<std::vector<float>>> kept;
        for (bool inParts : {false, true}) {
          const Optimizer optimizer = make(kind);
          const std::vector<Variable> variables{weight(Tensor({1, -2, 0.5}, {3}).astype(dtype)),
                                                weight(Tensor({0.25, 0.75}, {2}).astype(dtype), "net/h/bias")};
          auto step = minimizer(run, optimizer, variables, inParts);
          for (float factor : {0.5f, 0.25f, inf, 0.125f}) // an infinite loss too
            if (const auto found = step.run({Tensor::full({}, factor, dtype)}); !found.empty())
              CHECK(found[0].dtype() == (dtype == float64 ? float64 : float32));
          std::vector<Variable> all = optimizer.variables();
          all.insert(all.end(), variables.begin(), variables.end());
          kept.push_back(bits(all));
        }
        REQUIRE(kept[0].size() == kept[1].size());
        for (size_t i = 0; i < kept[0].size(); ++i)
          CHECK(sameBits(kept[0][i], kept[1][i]));
      }
}

// policies 13.9
TEST_CASE("a gradient that was infinite skips the step, whatever was made of it after unscale()") {
  for (Run run : everyRun) {
    const std::vector<Variable> variables{weight(Tensor({1, 1}, {2}), "net/a"), weight(Tensor({1}, {1}), "net/b")};
    LossScaleOptimizer optimizer(SGD(1.0), {.initial_scale = 4.0});
    auto step = recorded(run, [&](const std::vector<Value> &v) {
      std::vector<Value> found = optimizer.unscale({v[0], v[1]});
      for (Value &gradient : found)
        gradient = ops::clip(gradient, -0.5, 0.5);
      optimizer.apply(found, variables, {.unscaled = true});
      return found;
    });
    step.run({Tensor({4, 1}, {2}), Tensor({8}, {1})});
    CHECK(numbers(variables[0]) == std::vector<double>{0.5, 0.75});
    CHECK(numbers(variables[1]) == std::vector<double>{0.5});
    const std::vector<Tensor> clipped = step.run({Tensor({4, 1}, {2}), Tensor({-inf}, {1})});
    CHECK(numbers(clipped[1]) == std::vector<double>{-0.5});
    CHECK(numbers(variables[0]) == std::vector<double>{0.5, 0.75});
    CHECK(numbers(variables[1]) == std::vector<double>{0.5});
    CHECK(optimizer.state().scale == 2.0);
    CHECK(optimizer.state().skipped_steps == 1);
    CHECK(optimizer.state().last_fault == "net/b");
  }
}

TEST_CASE("unscale() leaves undefined gradients and gradients that replace their variables") {
  for (Run run : everyRun)
    for (const Optimizer &optimizer : {Optimizer(LossScaleOptimizer(SGD(1.0), {.initial_scale = 8.0})),
                                       Optimizer(SGD(1.0, {.loss_scale_factor = 8.0}))}) {
      const Variable x = weight(Tensor({1}, {1}), "net/x"), unused = weight(Tensor({7}, {1}), "net/unused");
      const Variable scale = detail::makeVariable(
          Tensor({2}, {1}), {.name = "scale", .path = "net/scale", .update = detail::UpdateKind::overwrite});
      const std::vector<Tensor> found = runOnce(run, {}, [&](const std::vector<Value> &) {
        Value loss = ops::sum(x * 3.0) + ops::sum(scale * 5.0);
        std::vector<Value> all = gradients(optimizer.scale_loss(loss), std::vector<Variable>{x, scale});
        std::vector<Value> divided = optimizer.unscale({all[0], Value(), all[1]});
        CHECK_FALSE(divided[1].defined());
        CHECK(divided[2].node() == all[1].node());
        optimizer.apply(divided, {x, unused, scale}, {.unscaled = true});
        return std::vector<Value>{divided[0], divided[2]};
      });
      CHECK(numbers(found[0]) == std::vector<double>{3});
      CHECK(numbers(found[1]) == std::vector<double>{40}); // the replacing gradient is not scaled
      CHECK(numbers(x) == std::vector<double>{-2});
      CHECK(numbers(unused) == std::vector<double>{7});
      CHECK(numbers(scale) == std::vector<double>{40});
    }
}

TEST_CASE("unscale() refuses calls outside of a function being traced and what is no gradient") {
  LossScaleOptimizer optimizer(SGD(1.0));
  const Variable x = weight(Tensor({1}, {1}), "net/x"), y = weight(Tensor({1}, {1}), "net/y");
  CHECK_THAT(errorOf([&] { (void)optimizer.unscale({}); }), Contains("RuntimeError: unscale() is for functions being"));
  const auto refused = [&](const std::function<void(const Value &)> &use) {
    return errorOf([&] {
      runOnce(Run::compiled, {Tensor({1}, {1})}, [&](const std::vector<Value> &v) {
        use(v[0]);
        return v;
      });
    });
  };
  CHECK_THAT(refused([&](const Value &v) { (void)optimizer.unscale({v, ops::cast(v, int32)}); }),
             Contains("TypeError: unscale() takes float gradients, but gradient 1 has the dtype int32"));
  CHECK_THAT(refused([&](const Value &v) { optimizer.apply(optimizer.unscale({v}), {x}); }),
             Contains("ValueError: apply() of 'loss_scale_optimizer' got the gradient of 'net/x' from unscale()") &&
                 Contains("pass {.unscaled = true}"));
  CHECK_THAT(refused([&](const Value &v) { // each from its own call, and applied in another order
               const Value first = optimizer.unscale({v})[0], second = optimizer.unscale({v * 2})[0];
               optimizer.apply({second, first}, {x, y});
             }),
             Contains("ValueError: apply() of 'loss_scale_optimizer' got the gradient of 'net/x' from unscale()"));
  CHECK_THAT(refused([&](const Value &v) { // only the second one, from another call
               (void)optimizer.unscale({v});
               optimizer.apply({v, optimizer.unscale({v * 2})[0]}, {x, y});
             }),
             Contains("ValueError: apply() of 'loss_scale_optimizer' got the gradient of 'net/y' from unscale()"));
  CHECK_THAT(
      refused([&](const Value &v) { (void)optimizer.unscale({v * 2, optimizer.unscale({v})[0]}); }),
      Contains("ValueError: unscale() of 'loss_scale_optimizer' got, at index 1, a gradient that it had returned"));
  CHECK(refused([&](const Value &v) { // unscaled only for inspection
          (void)optimizer.unscale({v});
          optimizer.apply({v}, {x});
        })
            .empty());
  CHECK(numbers(x) == std::vector<double>{1 - 1.0 / 32768});
}
