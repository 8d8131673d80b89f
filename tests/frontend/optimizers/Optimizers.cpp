// Optimizers as handles: Keras's results after one step, names, configs, minimize.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Optimizers.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// The variable [1, 2, 3, 4] after `steps` with the gradient [1, 6, 7, 2].
std::vector<double> afterSteps(Run run, const Optimizer &optimizer, int steps = 1) {
  Variable x = weight(Tensor({1, 2, 3, 4}, {4}));
  auto step = recorded(run, [&](const std::vector<Value> &v) {
    optimizer.apply(v, {x});
    return std::vector<Value>{v[0]};
  });
  for (int i = 0; i < steps; ++i)
    step.run({Tensor({1, 6, 7, 2}, {4})});
  return numbers(x);
}
const std::vector<double> g = {1, 6, 7, 2}, start = {1, 2, 3, 4};

} // namespace

TEST_CASE("one step of every optimizer is Keras's") {
  for (Run run : everyRun) {
    CHECK(near(afterSteps(run, optimizers::SGD(0.5)), {0.5, -1, -0.5, 3}));
    CHECK(near(afterSteps(run, optimizers::Adam(0.5)), {0.5, 1.5, 2.5, 3.5}, 1e-5));
    CHECK(near(afterSteps(run, optimizers::AdamW(0.5)), {0.498, 1.496, 2.494, 3.492}, 1e-5));
    CHECK(near(afterSteps(run, optimizers::RMSprop(0.5)), {-0.5811, 0.4189, 1.4189, 2.4189}, 1e-4));
  }
}

TEST_CASE("several steps of an optimizer follow its formulas") {
  auto reference = [](auto update) {
    std::vector<double> result;
    for (size_t i = 0; i < 4; ++i) {
      double x = start[i];
      update(x, g[i]);
      result.push_back(x);
    }
    return result;
  };
  for (Run run : everyRun) {
    CHECK(near(afterSteps(run, optimizers::SGD(0.1, {.momentum = 0.9}), 5), reference([](double &x, double g) {
                 for (double t = 0, m = 0; t < 5; ++t)
                   x += m = 0.9 * m - 0.1 * g;
               }),
               1e-5));
    CHECK(near(afterSteps(run, optimizers::SGD(0.1, {.momentum = 0.9, .nesterov = true}), 5),
               reference([](double &x, double g) {
                 for (double t = 0, m = 0; t < 5; ++t) {
                   m = 0.9 * m - 0.1 * g;
                   x += 0.9 * m - 0.1 * g;
                 }
               }),
               1e-5));
    for (bool amsgrad : {false, true})
      CHECK(near(afterSteps(run, optimizers::Adam(0.1, {.amsgrad = amsgrad}), 5), reference([](double &x, double g) {
                   double m = 0, v = 0; // v grows throughout, so amsgrad has no effect here
                   for (int t = 1; t <= 5; ++t) {
                     m += (g - m) * 0.1;
                     v += (g * g - v) * 0.001;
                     x -= m * 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) / (std::sqrt(v) + 1e-7);
                   }
                 }),
                 1e-4));
    CHECK(near(afterSteps(run, optimizers::RMSprop(0.1, {.momentum = 0.5, .centered = true}), 5),
               reference([](double &x, double g) {
                 double v = 0, a = 0, m = 0;
                 for (int t = 0; t < 5; ++t) {
                   v = 0.9 * v + 0.1 * g * g;
                   a = 0.9 * a + 0.1 * g;
                   m = 0.5 * m + 0.1 * g / std::sqrt(v - a * a + 1e-7);
                   x -= m;
                 }
               }),
               1e-4));
  }
}

TEST_CASE("Optimizer::minimize scales, differentiates and applies") {
  Variable x = weight(Tensor({3, -1}, {2}));
  optimizers::SGD sgd(0.25, {.loss_scale_factor = 1024.0});
  for (Run run : {Run::interpreted, Run::compiled}) {
    x.assign(Tensor({3, -1}, {2}));
    std::vector<Tensor> results = runOnce(run, {}, [&](const std::vector<Value> &) {
      Value loss = ops::sum(ops::square(x));
      Value scaled = sgd.scale_loss(loss);
      sgd.minimize(loss, {x});
      return std::vector<Value>{loss, scaled};
    });
    CHECK(numbers(results[0]) == std::vector<double>{10});
    CHECK(numbers(results[1]) == std::vector<double>{10240});
    CHECK(numbers(x) == std::vector<double>{1.5, -0.5});
  }
  CHECK(sgd.iterations() == 2);
}

TEST_CASE("unscale() of an optimizer that scales no loss gives the gradients themselves") {
  const Variable x = weight(Tensor({3, -1}, {2}));
  const optimizers::SGD sgd(0.25);
  runOnce(Run::compiled, {}, [&](const std::vector<Value> &) {
    const std::vector<Value> found = gradients(sgd.scale_loss(ops::sum(ops::square(x))), std::vector<Variable>{x});
    const std::vector<Value> unscaled = sgd.unscale(found);
    CHECK(unscaled.size() == 1);
    CHECK(unscaled[0].node() == found[0].node());
    sgd.apply(unscaled, {x}, {.unscaled = true});
    return std::vector<Value>{};
  });
  CHECK(numbers(x) == std::vector<double>{1.5, -0.5});
}

TEST_CASE("a name makes an optimizer") {
  CHECK(Optimizer("adam").name() == "adam");
  CHECK(Optimizer("AdamW").name() == "adamw");
  CHECK(Optimizer("sgd").name() == "SGD");
  CHECK(Optimizer("RMSprop").learning_rate() == Approx(0.001));
  CHECK_THAT(errorOf([] { Optimizer("adamm"); }),
             Contains("ValueError: Could not interpret optimizer identifier: adamm") && Contains("rmsprop"));
}

TEST_CASE("optimizers write Keras's configs") {
  CHECK(optimizers::Adam().get_config().dump() ==
        R"({"name":"adam","learning_rate":0.0010000000474974513,"weight_decay":null,"clipnorm":null,)"
        R"("global_clipnorm":null,"clipvalue":null,"use_ema":false,"ema_momentum":0.99,"ema_overwrite_frequency":null,)"
        R"("loss_scale_factor":null,"gradient_accumulation_steps":null,"beta_1":0.9,"beta_2":0.999,"epsilon":1e-07,)"
        R"("amsgrad":false})");
  Config config = optimizers::SGD(schedules::ExponentialDecay(0.1, 1000, 0.96)).get_config();
  CHECK(
      config.get_object("learning_rate").dump() ==
      R"({"module":"keras.optimizers.schedules","class_name":"ExponentialDecay","config":{"initial_learning_rate":0.1,)"
      R"("decay_steps":1000,"decay_rate":0.96,"staircase":false,"name":"ExponentialDecay"},"registered_name":null})");
}

TEST_CASE("an optimizer comes back from its config") {
  using namespace optimizers;
  const Optimizer all[] = {
      SGD(0.25, {.momentum = 0.5, .nesterov = true, .clipnorm = 2.0, .name = "mine"}),
      Adam(schedules::CosineDecay(0.25, 10, {.warmup_target = 0.5}), {.beta_1 = 0.5, .amsgrad = true}),
      AdamW(0.25, {.weight_decay = 0.5, .global_clipnorm = 2.0, .gradient_accumulation_steps = 3}),
      RMSprop(0.25, {.rho = 0.5, .centered = true, .use_ema = true, .ema_overwrite_frequency = 7}),
      LossScaleOptimizer(SGD(0.25, {.clipvalue = 2.0}), {.initial_scale = 4, .name = "scaler"}),
  };
  for (const Optimizer &optimizer : all) {
    Config saved = serialize(optimizer);
    INFO(saved.dump());
    CHECK(serialize(deserialize(Config::parse(saved.dump()))).dump() == saved.dump());
  }
}

TEST_CASE("optimizers refuse configs that are wrong") {
  auto errorFor = [](const char *json) { return errorOf([&] { optimizers::deserialize(Config::parse(json)); }); };
  CHECK_THAT(errorFor(R"({"class_name":"SGD","config":{"learning_rate":0.1,"foo":1}})"),
             Contains("ValueError: SGD: Argument(s) not recognized: {'foo': 1}"));
  CHECK_THAT(errorFor(R"({"class_name":"SGD","config":{"momentum":"x"}})"),
             Contains("TypeError: ") && Contains("'momentum' must be a number"));
  CHECK_THAT(errorFor(R"({"class_name":"SGD","config":{"learning_rate":null}})"), Contains("'learning_rate'"));
  CHECK_THAT(errorFor(R"({"class_name":"Foo","config":{}})"),
             Contains("Could not interpret optimizer identifier: Foo"));
  CHECK_THAT(errorFor(R"({"class_name":"LossScaleOptimizer","config":{}})"), Contains("'inner_optimizer'"));
  CHECK_THAT(errorFor(R"({"class_name":"LossScaleOptimizer","config":{"clipnorm":2.0,"inner_optimizer":{}}})"),
             Contains("does not support `clipnorm`. Instead, set `clipnorm` on the `inner_optimizer`."));
  CHECK(optimizers::deserialize(Config::parse(R"({"class_name":"sgd","config":{"name":null}})")).learning_rate() ==
        optimizers::SGD().learning_rate());
}

TEST_CASE("exclusions from weight decay must be set before the first apply") {
  Variable x = weight(Tensor({2}, {1}));
  optimizers::SGD sgd(1.0, {.weight_decay = 0.5});
  CHECK_THAT(errorOf([&] { sgd.exclude_from_weight_decay({}, {"("}); }), Contains("ValueError: "));
  sgd.exclude_from_weight_decay({}, {"kern"});
  sgd.exclude_from_weight_decay({}); // replaces the earlier call
  runOnce(Run::compiled, {Tensor({0}, {1})}, [&](const std::vector<Value> &v) {
    sgd.apply(v, {x});
    return std::vector<Value>{};
  });
  CHECK(numbers(x) == std::vector<double>{1});
  CHECK_THAT(
      errorOf([&] { sgd.exclude_from_weight_decay({x}); }),
      Contains("ValueError: `exclude_from_weight_decay()` can only be configured before the optimizer is built."));
}

TEST_CASE("a moved-from optimizer stays whole") {
  Optimizer a("adam");
  Optimizer b = std::move(a);
  CHECK(a.name() == b.name()); // NOLINT(bugprone-use-after-move)
}
