// Keras's own tests of optimizers, schedules and loss scaling, by their ids in the list of acceptance checks.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using optimizers::LossScaleOptimizer;
using optimizers::SGD;

namespace {

struct Check {
  const char *id;
  std::function<void()> run;
};
constexpr float inf = std::numeric_limits<float>::infinity();

/// A recorded step that applies fed gradients.
detail::CompiledFunction applier(const Optimizer &optimizer, const std::vector<Variable> &variables) {
  return recorded(Run::compiled, [optimizer, variables](const std::vector<Value> &v) {
    optimizer.apply(v, variables);
    return std::vector<Value>{};
  });
}
Variable overwritten(const Tensor &initial) {
  return detail::makeVariable(initial, {.name = "taken", .path = "taken", .update = detail::UpdateKind::overwrite});
}
Tensor square(std::vector<float> values) { return Tensor(std::move(values), {2, 2}); }
Tensor times(float scale, std::vector<float> values) {
  for (float &value : values)
    value *= scale;
  return Tensor(std::move(values), {4});
}
const std::vector<float> gradient{1, 6, 7, 2};
Variable oneToFour() { return weight(Tensor({1, 2, 3, 4}, {4})); }
std::vector<double> afterOne(const Optimizer &optimizer) {
  Variable x = oneToFour();
  applier(optimizer, {x}).run({times(1, gradient)});
  return numbers(x);
}
std::vector<double> clippedBy(const optimizers::SGDArgs &args, std::vector<float> g) {
  const auto n = static_cast<int64_t>(g.size());
  Variable x = weight(Tensor::zeros({n}));
  applier(SGD(1.0, args), {x}).run({Tensor(std::move(g), {n})});
  std::vector<double> result = numbers(x);
  for (double &value : result)
    value = -value;
  return result;
}
double scaledLoss(const Optimizer &optimizer, double loss) {
  return numbers(runOnce(Run::compiled, {Tensor::full({}, loss)}, [&](const std::vector<Value> &v) {
    return std::vector<Value>{optimizer.scale_loss(v[0])};
  })[0])[0];
}

Config scalerConfig(const char *key, bool value) {
  Config config = LossScaleOptimizer(SGD()).get_config();
  config.set(key, value);
  return config;
}

const Check checks[] = {
    {"A-073",
     [] {
       Variable x = oneToFour();
       LossScaleOptimizer optimizer(SGD(0.5));
       applier(optimizer, {x}).run({times(32768, gradient)});
       CHECK(numbers(x) == std::vector<double>{.5, -1, -.5, 3});
     }},
    {"A-074",
     [] {
       Variable x = oneToFour();
       LossScaleOptimizer optimizer(SGD(0.5, {.loss_scale_factor = 100}));
       applier(optimizer, {x}).run({times(32768, gradient)});
       CHECK(numbers(x) == std::vector<double>{.5, -1, -.5, 3});
     }},
    {"A-076",
     [] {
       Variable x = overwritten(Tensor({1, 2, 3, 4}, {4}));
       LossScaleOptimizer optimizer(SGD(1.0));
       applier(optimizer, {x}).run({times(1, gradient)});
       CHECK(numbers(x) == std::vector<double>{1, 6, 7, 2});
     }},
    {"A-077",
     [] {
       Variable x = oneToFour();
       LossScaleOptimizer optimizer(SGD(0.5), {.initial_scale = 400});
       auto step = applier(optimizer, {x});
       for (int i = 0; i < 4; ++i)
         step.run({times(inf, gradient)});
       CHECK(scaledLoss(optimizer, 1) == 25);
     }},
    {"A-078",
     [] {
       Variable x = oneToFour();
       LossScaleOptimizer optimizer(SGD(0.5), {.initial_scale = 2, .dynamic_growth_steps = 2});
       auto step = applier(optimizer, {x});
       for (int i = 0; i < 8; ++i)
         step.run({times(1, gradient)});
       CHECK(scaledLoss(optimizer, 1) == 32);
     }},
    {"A-080",
     [] {
       Config config =
           LossScaleOptimizer(SGD(), {.initial_scale = 3, .dynamic_growth_steps = 2, .name = "test_opt"}).get_config();
       CHECK(config.keys() ==
             std::vector<std::string>{"name", "inner_optimizer", "initial_scale", "dynamic_growth_steps"});
       CHECK(config.get_string("name") == "test_opt");
       CHECK(config.get_double("initial_scale") == 3.0);
       CHECK(config.get_int("dynamic_growth_steps") == 2);
       CHECK(LossScaleOptimizer::from_config(config).get_config().dump() == config.dump());
     }},
    {"A-081", // C++ has no such argument, but a config may have one
     [] {
       CHECK(LossScaleOptimizer::from_config(scalerConfig("dynamic", true)).state().scale == 32768);
       CHECK_THAT(errorOf([] { LossScaleOptimizer::from_config(scalerConfig("dynamic", false)); }),
                  Contains("ValueError: ") && Contains("set `loss_scale_factor`"));
     }},
    {"A-082", // unknown arguments do not compile, but a config may have some
     [] {
       Config config = scalerConfig("foo", true);
       config.set("bar", 3);
       CHECK_THAT(errorOf([&] { LossScaleOptimizer::from_config(config); }),
                  Contains("ValueError: ") && Contains("arguments: `foo`, `bar`"));
     }},
    {"A-088",
     [] {
       Variable a = weight(Tensor({1}, {1}), "a"), b = weight(Tensor({1}, {1}), "b");
       optimizers::Adam adam(1.0);
       auto step = applier(adam, {a});
       CHECK(adam.iterations() == 0);
       step.run({Tensor({1}, {1})});
       CHECK(adam.iterations() == 1);
       step.run({Tensor({1}, {1})});
       CHECK(adam.iterations() == 2);
       auto apply = [](const Optimizer &optimizer, std::vector<Variable> variables, bool second) {
         recorded(Run::compiled, [=](const std::vector<Value> &v) {
           optimizer.apply({Value(), second ? v[0] : Value()}, variables);
           return std::vector<Value>{};
         }).run({Tensor({1}, {1})});
       };
       CHECK_THAT(errorOf([&] { apply(SGD(1.0), {a, b}, false); }),
                  Contains("ValueError: No gradients provided for any variable."));
       double before = numbers(a)[0];
       std::string said;
       set_output([&](std::string_view text) { said += text; });
       apply(SGD(1.0), {a, b}, true);
       set_output({});
       CHECK_THAT(said, Contains("Gradients do not exist for variables ['a']"));
       CHECK(numbers(a)[0] == before);
       CHECK(numbers(b)[0] == 0);
     }},
    {"A-089",
     [] {
       CHECK(near(clippedBy({.clipnorm = 1.0}, {100, 100}), {.70710678, .70710678}));
       CHECK(near(clippedBy({.clipvalue = 1.0}, {100, 100}), {1, 1}));
       CHECK(
           near(clippedBy({.global_clipnorm = 1.0}, {50, 100}), {50 / std::hypot(50, 100), 100 / std::hypot(50, 100)}));
       const char *one = "ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can";
       CHECK_THAT(errorOf([] { SGD(1.0, {.clipnorm = 1.0, .clipvalue = 1.0}); }), Contains(one));
       CHECK_THAT(errorOf([] { SGD(1.0, {.clipnorm = 1.0, .global_clipnorm = 1.0}); }), Contains(one));
       CHECK_THAT(errorOf([] { SGD(1.0, {.clipvalue = 1.0, .global_clipnorm = 1.0}); }), Contains(one));
     }},
    {"A-090",
     [] {
       Variable x = weight(square({3, 4, 5, 6}));
       SGD optimizer(1.0, {.use_ema = true, .ema_momentum = 0.9, .ema_overwrite_frequency = 3});
       auto step = applier(optimizer, {x});
       const Tensor ones = Tensor::ones({2, 2});
       step.run({ones});
       Variable average = optimizer.variables()[2];
       CHECK(average.name() == "net_h_kernel_average");
       CHECK(near(numbers(x), {2, 3, 4, 5}));
       CHECK(near(numbers(average), {2, 3, 4, 5}));
       step.run({ones});
       CHECK(near(numbers(x), {1, 2, 3, 4}));
       CHECK(near(numbers(average), {1.9, 2.9, 3.9, 4.9}));
       step.run({ones});
       CHECK(near(numbers(average), {1.71, 2.71, 3.71, 4.71}));
       CHECK(near(numbers(x), {1.71, 2.71, 3.71, 4.71}));
     }},
    {"A-092",
     [] {
       Variable taken = overwritten(square({0, 0, 0, 0})), plain = weight(square({1, 2, 3, 4}));
       applier(SGD(1.0), {taken, plain}).run({Tensor::ones({2, 2}), Tensor::ones({2, 2})});
       CHECK(numbers(taken) == std::vector<double>{1, 1, 1, 1});
       CHECK(numbers(plain) == std::vector<double>{0, 1, 2, 3});
     }},
    {"A-093",
     [] {
       Variable taken = overwritten(square({1, 2, 3, 4})), plain = weight(square({1, 2, 3, 4}));
       SGD optimizer(1.0, {.gradient_accumulation_steps = 2});
       auto step = applier(optimizer, {taken, plain});
       step.run({Tensor::ones({2, 2}), Tensor::ones({2, 2})});
       CHECK(numbers(taken) == std::vector<double>{1, 2, 3, 4});
       CHECK(numbers(plain) == std::vector<double>{1, 2, 3, 4});
       CHECK(optimizer.iterations() == 0);
       step.run({Tensor::full({2, 2}, 2), Tensor::full({2, 2}, 2)});
       CHECK(numbers(taken) == std::vector<double>{2, 2, 2, 2});
       CHECK(numbers(plain) == std::vector<double>{-.5, .5, 1.5, 2.5});
       CHECK(optimizer.iterations() == 1);
       CHECK(optimizer.variables().size() == 4); // iteration, learning_rate and two accumulators
     }},
    {"A-094",
     [] {
       CHECK(near(afterOne(SGD(0.5)), {.5, -1, -.5, 3}));
       CHECK(near(afterOne(optimizers::Adam(0.5)), {.5, 1.5, 2.5, 3.5}, 1e-4));
       CHECK(near(afterOne(optimizers::AdamW(0.5)), {.498, 1.496, 2.494, 3.492}, 1e-4));
       CHECK(near(afterOne(optimizers::RMSprop(0.5)), {-.5811, .4189, 1.4189, 2.4189}, 1e-4));
     }},
    {"A-096",
     [] {
       CHECK(near(afterOne(optimizers::Adafactor(0.5)), {-.3693, .6307, 1.6307, 2.6307}, 1e-4));
       Variable matrix = weight(square({1, 2, 3, 4}));
       applier(optimizers::Adafactor(0.5), {matrix}).run({square({1, 6, 7, 2})});
       CHECK(near(numbers(matrix), {.7007, -.0081, 1.2492, 3.4407}, 1e-4));
     }},
    {"A-097",
     [] {
       Variable x = weight(Tensor({2}, {1}), "net/x"), named = weight(Tensor({2}, {1}), "net/exclude"),
                listed = weight(Tensor({2}, {1}), "net/y");
       SGD decaying(1.0, {.weight_decay = 0.004});
       decaying.exclude_from_weight_decay({listed}, {"excl"});
       auto step = applier(decaying, {x, named, listed});
       for (int i = 0; i < 3; ++i)
         step.run({Tensor::zeros({1}), Tensor::zeros({1}), Tensor::zeros({1})});
       CHECK(near(numbers(x), {1.9760959}));
       CHECK(numbers(named)[0] == 2.0);
       CHECK(numbers(listed)[0] == 2.0);
       for (double momentum : {-1.0, 2.0})
         CHECK_THAT(errorOf([&] { SGD(1.0, {.momentum = momentum}); }),
                    Contains("ValueError: `momentum` must be a float between [0, 1]."));
       Config adamW = optimizers::serialize(optimizers::AdamW()), config = adamW.get_object("config");
       config.set_null("weight_decay"); // in C++ it cannot be null
       adamW.set("config", config);
       CHECK_THAT(errorOf([&] { optimizers::deserialize(adamW); }),
                  Contains("ValueError: Argument `weight_decay` must be a float. Received: weight_decay=None"));
     }},
    {"A-098",
     [] {
       CHECK(near({schedules::ExponentialDecay(.05, 10, .96).at(5)}, {.05 * std::pow(.96, .5)}));
       schedules::ExponentialDecay stairs(.1, 3, .96, {.staircase = true});
       CHECK(near({stairs.at(1), stairs.at(2), stairs.at(100)}, {.1, .1, .1 * std::pow(.96, 33)}));
     }},
    {"A-100",
     [] {
       schedules::PolynomialDecay decay(.05, 10, {.end_learning_rate = .001});
       CHECK(near({decay.at(5), decay.at(10), decay.at(15)}, {.0255, .001, .001}));
       CHECK(near({schedules::PolynomialDecay(.05, 10, {.end_learning_rate = .001, .cycle = true}).at(15)},
                  {.25 * .049 + .001}));
       CHECK(near({schedules::PolynomialDecay(.001, 10, {.cycle = true}).at(0)}, {.001}));
     }},
    {"A-101",
     [] {
       schedules::CosineDecay decay(1, 1000), warm(0, 10, {.warmup_target = 10, .warmup_steps = 1500});
       for (int64_t t = 0; t <= 1250; t += 250) {
         CHECK(near({decay.at(t)},
                    {.5 * (1 + std::cos(std::numbers::pi * static_cast<double>(std::min<int64_t>(t, 1000)) / 1000))}));
         CHECK(near({warm.at(t)}, {static_cast<double>(t) / 1500 * 10}));
       }
     }},
    {"B-11", // a scale of 0 makes NaN in Keras; here no such scale is possible (docs/policies.md)
     [] {
       CHECK_THAT(errorOf([] { LossScaleOptimizer(SGD(), {.initial_scale = 0.0}); }),
                  Contains("ValueError") && Contains("above 0"));
     }},
    {"B-13",
     [] {
       Variable x = weight(Tensor({0}, {1}));
       SGD inner(1.0, {.gradient_accumulation_steps = 2});
       LossScaleOptimizer optimizer(inner, {.initial_scale = 4});
       auto step = applier(optimizer, {x});
       std::vector<double> scales, counts, values;
       for (float g : {4.0f, inf, 8.0f}) {
         step.run({Tensor({g}, {1})});
         scales.push_back(optimizer.state().scale);
         counts.push_back(numbers(inner.variables()[0])[0]);
         values.push_back(numbers(x)[0]);
       }
       CHECK(scales == std::vector<double>{4, 2, 2});
       CHECK(counts == std::vector<double>{1, 1, 2});
       CHECK(values == std::vector<double>{0, 0, -2.5});
     }},
};

} // namespace

// policies 12.4, 13.2, 13.4
TEST_CASE("Acceptance checks of optimizers, schedules and loss scaling") {
  for (const Check &check : checks)
    DYNAMIC_SECTION(check.id) { check.run(); }
}
