// Models trained on a GPU: accuracy, agreement with CPU and interpreter, no waits within a step, tensor cores.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/devices/Registry.h"
#include "tests/end_to_end/ForcedTargets.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace halftone;
using namespace halftone::layers;
using halftone::testing::mnist;

namespace {

/// Images of MNIST as floats, and their digits.
Tensor inputs(const Tensor &pictures, int64_t count) {
  return pictures.slice(0, count).astype(float32).reshape({count, 784}) * (1.0 / 255);
}

Sequential classifier(const std::string &policy, Device device, const Optimizer &optimizer = optimizers::Adam(0.003)) {
  set_random_seed(5);
  const PolicyScope scope(policy);
  Sequential model(
      {Input({784}), Dense(128, {.activation = "relu"}), Dense(10), Activation("linear", {.dtype = "float32"})});
  model.compile({.optimizer = optimizer,
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .device = device});
  return model;
}

/// Few enough products for the interpreter to run tens of steps.
Sequential smallClassifier(const std::string &policy) {
  const PolicyScope scope(policy);
  Sequential model(
      {Input({64}), Dense(24, {.activation = "relu"}), Dense(10), Activation("linear", {.dtype = "float32"})});
  model.compile({.optimizer = optimizers::Adam(0.003),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  return model;
}

std::vector<float> weightsOf(const Sequential &model) {
  std::vector<float> all;
  for (const Variable &variable : model.trainable_variables()) {
    const std::vector<float> values = variable.value().to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// The root mean square of the differences, relative to that of `a`.
double relativeDistance(const std::vector<float> &a, const std::vector<float> &b) {
  REQUIRE(a.size() == b.size());
  double differences = 0, sizes = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differences += std::pow(double(a[i]) - b[i], 2);
    sizes += std::pow(a[i], 2);
  }
  return std::sqrt(differences / sizes);
}

/// The number of waits of the device after each batch.
struct WaitWatch : Callback {
  std::shared_ptr<DeviceRuntime> device = deviceRuntime(Device::cuda(0)).valueOrThrow();
  std::vector<int64_t> waits;
  void on_train_batch_end(int64_t, const Logs &) override { waits.push_back(device->counters().waits); }
};

/// Trains on the CPU and on the GPU: 40 steps without a wait, to similar weights. The update is linear in the
/// gradients: Adam divides each gradient by its magnitude, so a gradient near 0 whose sign differs on a GPU with other
/// roundings would move its weight as far as any other. The bounds are at least 10 times the difference between strict
/// and default numerics on one CPU. The intervals of the tests below check each number.
void learnMnist(const std::string &policy) {
  constexpr int64_t batch = 64, steps = 40, tests = 512;
  const Tensor x = inputs(mnist().x_train, batch * steps), y = mnist().y_train.slice(0, batch * steps);
  std::vector<std::vector<float>> weights;
  for (const Device device : {Device::cpu(), Device::cuda(0)}) {
    const Sequential model = classifier(policy, device, optimizers::SGD(0.05, {.momentum = 0.9}));
    WaitWatch watch;
    model.fit(x, y, {.batch_size = batch, .epochs = 1, .verbose = 0, .callbacks = {&watch}, .shuffle = false});
    REQUIRE(watch.waits.size() == steps);
    CHECK(watch.waits.back() == watch.waits.front());
    weights.push_back(weightsOf(model));
    if (device == Device::cpu())
      continue;
    CHECK(deviceRuntime(device).valueOrThrow()->counters().launches > steps);
    const Logs logs = model.evaluate(inputs(mnist().x_test, tests), mnist().y_test.slice(0, tests),
                                     {.batch_size = batch, .verbose = 0});
    CHECK(logs["accuracy"] >= 0.75);
    const std::string plan = model.ir(Stage::target, {.program = Program::train, .batch_size = batch});
    CHECK((plan.find("multiply-add") == plan.npos) == (policy != "float32"));
    CHECK((plan.find("mma.m16n8k16") != plan.npos) == (policy != "float32"));
  }
  CHECK(relativeDistance(weights[0], weights[1]) < (policy == "float32" ? 1e-4 : 5e-2));
}

} // namespace

TEST_CASE("MNIST is learned on a GPU in 40 steps without a wait, close to the CPU's weights") { learnMnist("float32"); }
TEST_CASE("MNIST is learned on a GPU under mixed_float16 on tensor cores alone") { learnMnist("mixed_float16"); }
TEST_CASE("MNIST is learned on a GPU under mixed_bfloat16 on tensor cores alone") { learnMnist("mixed_bfloat16"); }

TEST_CASE("Weights after training steps on a GPU lie in the intervals that the interpreter computes") {
  const std::string policy = GENERATE("float32", "mixed_float16", "mixed_bfloat16");
  INFO(policy);
  const std::string steps =
      classifier(policy, Device::cpu()).ir(Stage::graph, {.program = Program::train, .batch_size = 16});
  const auto comparison = test::compareProgram(steps, test::optionsFor(test::Sm80::target, /*strict=*/false), 1);
  INFO(comparison.status().str());
  REQUIRE(comparison.isOk());
  CHECK(comparison->outputs.size() > 4); // the weights, and others
  CHECK(test::differencesOf(*comparison) == std::vector<std::string>());
}

TEST_CASE("Each of 40 training steps on a GPU gives weights in the intervals of the interpreter") {
  const std::string policy = GENERATE("float32", "mixed_float16", "mixed_bfloat16");
  INFO(policy);
  const std::string step = smallClassifier(policy).ir(Stage::graph, {.program = Program::train, .batch_size = 8});
  const auto comparison =
      test::compareProgram(step, test::optionsFor(test::Sm80::target, /*strict=*/false), 3, /*steps=*/40);
  INFO(comparison.status().str());
  REQUIRE(comparison.isOk());
  CHECK(comparison->outputs.size() > 4);
  CHECK(test::differencesOf(*comparison) == std::vector<std::string>());
}

TEST_CASE("A model moves from the CPU to a GPU and back") {
  const Tensor x = inputs(mnist().x_train, 64), y = mnist().y_train.slice(0, 64);
  const Sequential model = classifier("mixed_float16", Device::cpu());
  const auto compileFor = [&](Device device) {
    model.compile(
        {.optimizer = "adam", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}), .device = device});
  };
  const auto step = [&] { return model.train_on_batch(x, y)["loss"]; };
  const double first = step();
  const std::vector<float> weights = weightsOf(model);
  compileFor(Device::cuda(0));
  CHECK(weightsOf(model) == weights);
  const double second = step();
  CHECK(second < first);
  CHECK(model(x).device() == Device::cuda(0));
  compileFor(Device::cpu());
  CHECK(step() < second);
}

TEST_CASE("Programs run on the GPU that a scope, a tensor or the jit's options name") {
  const auto f = [](const Value &x) { return ops::softmax(x * 2.0); };
  const Tensor x({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::vector<float> expected = jit(f)(x).to_vector<float>();
  const DeviceScope scope(Device::cuda(0));
  const Tensor y = jit(f)(x);
  CHECK(y.device() == Device::cuda(0));
  const std::vector<float> values = y.to_vector<float>();
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == Approx(expected[i]).epsilon(1e-6));
  CHECK(jit(f, {.device = Device::cpu()})(x).device() == Device::cpu());
}

TEST_CASE("Feeds of NaN on a GPU skip the steps of a scaled loss") {
  const Sequential model = classifier("mixed_float16", Device::cuda(0));
  const std::vector<float> before = weightsOf(model);
  const Tensor x = inputs(mnist().x_train, 64), y = mnist().y_train.slice(0, 64);
  model.train_on_batch(x * std::nan(""), y);
  CHECK(weightsOf(model) == before);
  CHECK(model.loss_scale_optimizer()->state().skipped_steps == 1);
}

TEST_CASE("Quantized layers compute on a GPU as on the CPU: int8 by its tensor cores, int4 and float8 by conversion") {
  for (const char *mode : {"int8", "int4", "float8"}) {
    INFO(mode);
    std::vector<std::vector<float>> outputs;
    const Tensor x = inputs(mnist().x_test, 48);
    for (const Device device : {Device::cpu(), Device::cuda(0)}) {
      set_random_seed(4);
      const DeviceScope scope(device);
      const Sequential model({Input({784}), Dense(96, {.activation = "relu"}), Dense(10)});
      (void)model.quantize(mode, {.verbose = false});
      model.compile({.optimizer = "sgd", .loss = "mse", .device = device});
      outputs.push_back(model(x).to_vector<float>());
      if (device == Device::cpu())
        continue;
      const std::string plan = model.ir(Stage::target, {.program = Program::predict, .batch_size = 48});
      CHECK((plan.find("mma.m16n8k32.s8") != plan.npos) == (mode == std::string("int8")));
    }
    CHECK(relativeDistance(outputs[0], outputs[1]) < 1e-6);
  }
}
