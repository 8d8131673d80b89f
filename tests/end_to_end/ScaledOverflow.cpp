// Gradients that overflow when rounded to the compute dtype: each mode and kernel form skips the step.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/ForcedTargets.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::testing;
using namespace halftone::test;

namespace {

/// How the gradient of `w` is computed: the reduced axes determine the form of its kernel.
enum class Form { matmul, leading, trailing, whole };

struct OneWeight {
  Form form;
  Variable w{}, v{};
  void build(BuildContext &context, const Shape &input) {
    const int64_t rows = input[-2], columns = input[-1];
    const Shape shape = form == Form::matmul     ? Shape{columns, 3}
                        : form == Form::leading  ? Shape{columns}
                        : form == Form::trailing ? Shape{rows, 1}
                                                 : Shape{};
    w = context.add_weight({.shape = shape, .initializer = "ones", .name = "w"});
    v = context.add_weight({.shape = {}, .initializer = "ones", .name = "v"});
  }
  Value call(const Value &x) const {
    Value y = form == Form::matmul ? ops::matmul(x, w) : x * w;
    return form == Form::whole ? y * v : y + v;
  }
};

/// The state that the host sees after a step.
struct Outcome {
  double scale;
  int64_t good, skipped, iterations;
  std::string fault;
  bool operator==(const Outcome &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Outcome &step) {
  return out << "scale " << step.scale << " good " << step.good << " skipped " << step.skipped << " iterations "
             << step.iterations << " fault '" << step.fault << "'";
}

Outcome stepOf(const optimizers::LossScaleOptimizer &optimizer) {
  auto state = optimizer.state();
  return {state.scale, state.good_steps, state.skipped_steps, optimizer.iterations(), state.last_fault};
}

bool allFinite(const std::vector<Variable> &variables) {
  for (const std::vector<float> &values : valuesOf(variables))
    for (float value : values)
      if (!std::isfinite(value))
        return false;
  return true;
}

using Make = std::function<Sequential(Numerics)>;

/// Runs the steps of `make`'s model under one kind of numerics. Checks that its weights remain finite.
std::vector<Outcome> steps(const Make &make, Numerics numerics, const Tensor &x, const Tensor &y, int count) {
  utils::clear_session(); // so that layers have the same names
  Sequential model = make(numerics);
  std::vector<Outcome> seen;
  for (int i = 0; i < count; ++i) {
    model.train_on_batch(x, y);
    seen.push_back(stepOf(*model.loss_scale_optimizer()));
    REQUIRE(allFinite(model.trainable_variables()));
  }
  return seen;
}

Optimizer sgd(const std::string &option) {
  optimizers::SGDArgs args;
  if (option == "clipnorm")
    args.clipnorm = 1.0;
  if (option == "clipvalue")
    args.clipvalue = 0.5;
  if (option == "global_clipnorm")
    args.global_clipnorm = 1.0;
  if (option == "accumulation")
    args.gradient_accumulation_steps = 2;
  if (option == "ema") {
    args.use_ema = true;
    args.ema_overwrite_frequency = 2;
  }
  return optimizers::SGD(1e-3, args);
}

/// One layer of this form that computes under `policy`. Its loss is a sum, so distant targets give large gradients.
Make oneLayer(Form form, const std::string &policy, const std::string &option,
              const optimizers::LossScaleArgs &scaling) {
  return [=](Numerics numerics) {
    PolicyScope scope(policy);
    Sequential model({Input({8, 6}), Custom(OneWeight{form})});
    auto sum = [](const Value &target, const Value &prediction) { return ops::mean(ops::square(prediction - target)); };
    model.compile(
        {.optimizer = optimizers::LossScaleOptimizer(sgd(option), scaling), .loss = sum, .numerics = numerics});
    return model;
  };
}

} // namespace

// After 41 steps real Keras 3 (JAX backend) has skipped 3; the scale is 4096 and the loss 23.301369.
TEST_CASE("a dense layer whose first gradients overflow float16 skips them as Keras does") {
  for (Numerics numerics : {Numerics::fast, Numerics::strict}) {
    PolicyScope scope("mixed_float16");
    Sequential model({Input({4}), Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::SGD(0.001), .loss = "mse", .numerics = numerics});
    const Tensor x = Tensor::ones({64, 4}), y = Tensor::full({64, 1}, -3.0);
    double loss = 0;
    for (int i = 0; i < 41; ++i)
      loss = model.train_on_batch(x, y)["loss"];
    auto state = model.loss_scale_optimizer()->state();
    CHECK(state.scale == 4096);
    CHECK(state.skipped_steps == 3);
    CHECK(loss == Approx(23.301369).epsilon(1e-5));
    CHECK(allFinite(model.trainable_variables()));
  }
}

// policies 13.7
TEST_CASE("in every kernel form a gradient that overflows only when it is rounded is skipped, as in strict mode") {
  const Tensor x = Tensor::ones({16, 8, 6});
  for (Form form : {Form::matmul, Form::leading, Form::trailing, Form::whole})
    for (double factor : {3.0, 300.0, 20000.0}) {
      const Tensor y = Tensor::full({16, 8, form == Form::matmul ? 3 : 6}, -factor);
      INFO("form " << static_cast<int>(form) << ", targets " << -factor);
      const Make make = oneLayer(form, "mixed_float16", "", {});
      const std::vector<Outcome> fast = steps(make, Numerics::fast, x, y, 8);
      CHECK(fast == steps(make, Numerics::strict, x, y, 8));
      if (factor == 20000.0)
        CHECK(fast.back().skipped > 0);
    }
}

TEMPLATE_TEST_CASE("on every target a gradient that overflows only when it is rounded is skipped", "", V2, V3, V4, Zen4,
                   SapphireRapids) {
  if (!TestType::runs()) {
    WARN(TestType::target << " was not tried: this CPU lacks some of its instructions");
    return;
  }
  const Tensor x = Tensor::ones({16, 8, 6});
  for (Form form : {Form::matmul, Form::leading, Form::trailing, Form::whole}) {
    INFO("form " << static_cast<int>(form));
    const Tensor y = Tensor::full({16, 8, form == Form::matmul ? 3 : 6}, -20000.0);
    const Make make = oneLayer(form, "mixed_float16", "", {});
    const std::vector<Outcome> expected = steps(make, Numerics::strict, x, y, 8);
    if (default_device() == Device::cpu()) // otherwise for the device
      setenv("HALFTONE_TARGET", TestType::target, 1);
    const std::vector<Outcome> fast = steps(make, Numerics::fast, x, y, 8);
    unsetenv("HALFTONE_TARGET");
    CHECK(fast == expected);
    CHECK(fast.back().skipped > 0);
  }
}

TEST_CASE("gradients of embeddings that overflow in float16 are skipped, as in strict mode") {
  const Tensor x = Tensor::of<int32_t>({0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1}, {4, 3});
  for (double factor : {3.0, 300.0, 30000.0}) {
    const Make make = [&](Numerics numerics) {
      PolicyScope scope("mixed_float16");
      Sequential model({Input({3}, {.dtype = int32}), Embedding(5, 4, {.embeddings_initializer = "ones"}),
                        Dense(2, {.kernel_initializer = "ones"})});
      model.compile({.optimizer = optimizers::SGD(0.001), .loss = "mse", .numerics = numerics});
      return model;
    };
    const Tensor y = Tensor::full({4, 3, 2}, -factor);
    const std::vector<Outcome> fast = steps(make, Numerics::fast, x, y, 8);
    CHECK(fast == steps(make, Numerics::strict, x, y, 8));
    if (factor == 30000.0)
      CHECK(fast.back().skipped > 0);
  }
}

TEST_CASE("clipping, accumulation and moving averages see no gradient of a skipped step") {
  const Tensor x = Tensor::ones({16, 8, 6});
  for (const char *option : {"clipnorm", "clipvalue", "global_clipnorm", "accumulation", "ema"})
    for (Form form : {Form::matmul, Form::leading, Form::whole}) {
      INFO(option << ", form " << static_cast<int>(form));
      const Tensor y = Tensor::full({16, 8, form == Form::matmul ? 3 : 6}, -20000.0);
      const Make make = oneLayer(form, "mixed_float16", option, {});
      const std::vector<Outcome> fast = steps(make, Numerics::fast, x, y, 20);
      CHECK(fast == steps(make, Numerics::strict, x, y, 20));
      CHECK(fast.back().skipped > 0);
      CHECK(fast.back().skipped < 20);
    }
}

TEST_CASE("gradients that overflow when they are rounded to bfloat16 are skipped") {
  // The largest bfloat16 is 3.3895e38, the largest float32 3.4028e38: a float32 sum of 3.395e38 is infinite in
  // bfloat16.
  const Tensor x = Tensor::ones({16, 8, 6}), y = Tensor::full({16, 8, 6}, 0.0);
  int overflowed = 0;
  for (double scale = 1.60e38; scale < 1.76e38; scale += 1e36) {
    const Make make = oneLayer(Form::leading, "mixed_bfloat16", "", {.initial_scale = scale, .max_scale = 3e38});
    const std::vector<Outcome> fast = steps(make, Numerics::fast, x, y, 3);
    CHECK(fast == steps(make, Numerics::strict, x, y, 3));
    overflowed += fast.back().skipped > 0;
  }
  CHECK(overflowed > 0);
}

TEST_CASE("fit and a recorded loop skip what train_on_batch skips") {
  const Tensor x = Tensor::ones({16, 8, 6}), y = Tensor::full({16, 8, 3}, -20000.0);
  const Make make = oneLayer(Form::matmul, "mixed_float16", "", {});
  const Outcome expected = steps(make, Numerics::strict, x, y, 8).back();
  CHECK(expected.skipped > 0);

  utils::clear_session();
  Sequential fitted = make(Numerics::fast);
  fitted.fit(x, y, {.batch_size = 16, .epochs = 8, .verbose = 0, .shuffle = false});
  CHECK(stepOf(*fitted.loss_scale_optimizer()) == expected);
  CHECK(allFinite(fitted.trainable_variables()));

  utils::clear_session();
  Sequential looped = make(Numerics::fast);
  optimizers::LossScaleOptimizer optimizer(optimizers::SGD(1e-3));
  const std::vector<Variable> weights = looped.trainable_variables();
  auto step = jit([=](const Value &a, const Value &b) {
    Value loss = ops::mean(ops::square(looped(a, {.training = true}) - b));
    optimizer.minimize(loss, weights);
    return loss;
  });
  for (int i = 0; i < 8; ++i)
    step(x, y);
  CHECK(stepOf(optimizer) == expected);
  CHECK(allFinite(weights));
}

namespace {

/// A stack of dense layers, some followed by a normalization, under mixed_float16; the same stack for the same seed.
Make randomNet(uint32_t seed) {
  return [=](Numerics numerics) {
    std::mt19937 random(seed);
    auto below = [&](uint32_t bound) { return static_cast<int64_t>(random() % bound); };
    static const char *const activations[] = {"linear", "relu", "tanh", "gelu", "softplus", "elu"};
    PolicyScope scope("mixed_float16");
    set_random_seed(seed);
    std::vector<Layer> stack{Input({1 + below(9)})};
    for (int64_t left = 1 + below(3); left > 0; --left) {
      stack.push_back(Dense(1 + below(12), {.activation = activations[below(6)], .use_bias = below(3) > 0}));
      if (below(4) == 0)
        stack.push_back(LayerNormalization());
      if (below(6) == 0)
        stack.push_back(BatchNormalization());
    }
    Sequential model(stack);
    model.compile({.optimizer = optimizers::LossScaleOptimizer(
                       optimizers::SGD(1e-4),
                       {.initial_scale = std::ldexp(1.0, static_cast<int>(10 + below(15))), .dynamic_growth_steps = 2}),
                   .loss = below(2) ? "mse" : "mae",
                   .numerics = numerics});
    return model;
  };
}

} // namespace

TEST_CASE("random nets at loss scales of 2^10 to 2^24 skip the steps that strict mode skips") {
  int skipped = 0;
  constexpr int nets = 12; // --rng-seed selects others
  for (int i = 0; i < nets; ++i) {
    const uint32_t seed = Catch::rngSeed() * 1000 + static_cast<uint32_t>(i);
    INFO("seed " << seed);
    Sequential shape = randomNet(seed)(Numerics::fast);
    const int64_t features = shape.inputs()[0].shape()[-1], outputs = shape.outputs()[0].shape()[-1];
    std::mt19937 random(seed + 1);
    auto data = [&](int64_t columns, float size) {
      std::vector<float> values(static_cast<size_t>(16 * columns));
      for (float &value : values)
        value = size * (static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
      return Tensor(std::move(values), {16, columns});
    };
    const Tensor x = data(features, 2.0f), y = data(outputs, std::ldexp(1.0f, static_cast<int>(random() % 12)));
    const std::vector<Outcome> fast = steps(randomNet(seed), Numerics::fast, x, y, 12),
                               strict = steps(randomNet(seed), Numerics::strict, x, y, 12);
    skipped += fast.back().skipped > 0;
    CHECK(fast == strict);
  }
  CHECK(skipped > nets / 4);
}

TEST_CASE("steps that overflow leave no trace in the weights and slots of any optimizer") {
  const Tensor good = Tensor::full({64, 4}, 0.5), bad = Tensor::full({64, 4}, 100.0), y = Tensor::full({64, 2}, 1.0);
  const int count = default_device() == Device::cpu() ? 2000 : 40; // steps of each optimizer; GPUs may be emulated
  for (const char *name : {"sgd", "adam", "adamw", "rmsprop", "lion", "adagrad", "adadelta", "adamax", "nadam",
                           "adafactor", "ftrl", "lamb"}) {
    INFO(name);
    // A constant scale, so that gradients of both runs round equally.
    auto make = [&] {
      PolicyScope scope("mixed_float16");
      set_random_seed(3);
      Sequential model({Input({4}), Dense(8, {.activation = "relu"}), Dense(2)});
      model.compile(
          {.optimizer = optimizers::LossScaleOptimizer(
               Optimizer(name), {.initial_scale = 4096, .min_scale = 4096, .max_scale = 4096, .stall_alarm_steps = 0}),
           .loss = "mse"});
      return model;
    };
    Sequential model = make(), clean = make();
    std::mt19937 random(7);
    int faults = 0;
    for (int i = 0; i < count; ++i) {
      if (random() % 3 == 0) {
        ++faults;
        CHECK(std::isfinite(model.train_on_batch(bad, y)["loss"]));
      }
      model.train_on_batch(good, y);
      clean.train_on_batch(good, y);
    }
    CHECK(model.loss_scale_optimizer()->state().skipped_steps == faults);
    CHECK((valuesOf(model.variables()) == valuesOf(clean.variables())));
    CHECK((valuesOf(model.loss_scale_optimizer()->inner_optimizer().variables()) ==
           valuesOf(clean.loss_scale_optimizer()->inner_optimizer().variables())));
  }
}
