// Models on a device whose memory the host cannot access and whose work runs late are bit-identical to the CPU.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/FarDevice.h"
#include "halftone/Halftone.h"
#include "runtime/devices/Registry.h"
#include "runtime/loader/ObjectLoader.h"
#include "tests/TemporaryFolder.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace halftone;
using namespace halftone::layers;
using halftone::testing::mnist;

namespace {

/// Registers a far device as "cuda:7" during its lifetime.
struct Far {
  std::shared_ptr<test::FarDevice> runtime = test::FarDevice::create("cuda:7", loadObjects);
  Far() { REQUIRE(addDevice(runtime).isOk()); }
  ~Far() { removeDevice("cuda:7"); }
  Device device() const { return Device::cuda(7); }
};

/// The first images of MNIST, as floats, and their digits.
struct Pictures {
  Tensor x, y;
  Pictures(const Tensor &pictures, const Tensor &digits, int64_t count)
      : x(pictures.slice(0, count).astype(float32).reshape({count, 784}) * (1.0 / 255)), y(digits.slice(0, count)) {}
};
Pictures trainingPictures(int64_t count) { return {mnist().x_train, mnist().y_train, count}; }
Pictures testPictures(int64_t count) { return {mnist().x_test, mnist().y_test, count}; }

Sequential classifier(const std::string &policy) {
  set_random_seed(5);
  const PolicyScope scope(policy);
  return Sequential({Input({784}), Dense(32, {.activation = "relu"}), Dense(10, {.dtype = "float32"})});
}

void compileFor(const Sequential &model, Device device) {
  model.compile({.optimizer = "adam",
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .device = device});
}

std::vector<float> weightsOf(const Sequential &model) {
  std::vector<float> all;
  for (const Variable &variable : model.variables()) {
    const std::vector<float> values = variable.value().to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

} // namespace

TEST_CASE("MNIST is learned on a device apart, to the bits of the CPU") {
  const Far far;
  const Pictures train = trainingPictures(2000), test = testPictures(512);
  for (const char *policy : {"float32", "mixed_float16", "mixed_bfloat16"}) {
    CAPTURE(policy);
    std::vector<std::vector<double>> losses, accuracies;
    std::vector<std::vector<float>> weights, predictions;
    for (const Device device : {Device::cpu(), far.device()}) {
      const Sequential model = classifier(policy);
      compileFor(model, device);
      const History history = model.fit(train.x, train.y,
                                        {.batch_size = 48, // the last batch is smaller
                                         .epochs = 3,
                                         .verbose = 0,
                                         .validation_data = {test.x, test.y}});
      losses.push_back(history["loss"]);
      accuracies.push_back(history["val_accuracy"]);
      weights.push_back(weightsOf(model));
      predictions.push_back(model.predict(test.x, {.batch_size = 48, .verbose = 0}).to_vector<float>());
    }
    CHECK(losses[0] == losses[1]);
    CHECK(accuracies[0] == accuracies[1]);
    CHECK(weights[0] == weights[1]);
    CHECK(predictions[0] == predictions[1]);
    CHECK(losses[0].back() < 0.7 * losses[0].front());
    CHECK(accuracies[0].back() > 0.8);
  }
  CHECK(far.runtime->counters().launches > 0);
}

TEST_CASE("no step of a training on a device apart waits") {
  const Far far;
  const Pictures train = trainingPictures(3200);
  for (const char *policy : {"float32", "mixed_float16", "mixed_bfloat16"}) {
    CAPTURE(policy);
    const Sequential model = classifier(policy);
    compileFor(model, far.device());
    struct Watch : Callback {
      std::shared_ptr<test::FarDevice> device;
      std::vector<int64_t> waits;
      std::vector<Logs> logs;
      void on_train_batch_end(int64_t, const Logs &given) override {
        waits.push_back(device->counters().waits);
        logs.push_back(given);
      }
    } watch;
    watch.device = far.runtime;
    model.fit(train.x, train.y, {.batch_size = 32, .epochs = 1, .verbose = 0, .callbacks = {&watch}});
    REQUIRE(watch.waits.size() == 100);
    CHECK(watch.waits.back() == watch.waits.front());
    const int64_t launches = far.runtime->counters().launches;
    CHECK(watch.logs[0]["loss"] > watch.logs[99]["loss"]); // the loss of each single step, read later
    CHECK(far.runtime->counters().launches == launches);
  }
}

TEST_CASE("variables of a model follow it from device to device") {
  const Far far;
  const Pictures train = trainingPictures(64);
  const Sequential model = classifier("mixed_float16");
  auto step = [&] { return model.train_on_batch(train.x, train.y)["loss"]; };
  compileFor(model, Device::cpu());
  const double first = step();
  const std::vector<float> weights = weightsOf(model);
  compileFor(model, far.device());
  CHECK(weightsOf(model) == weights);
  const double second = step();
  CHECK(second < first);
  CHECK(model(train.x).device() == far.device()); // runs on the device of the variables
  compileFor(model, Device::cpu());
  CHECK(step() < second);
  CHECK(model(train.x).device() == Device::cpu());
  const auto f = jit([&](const Value &x) { return model(x); }, {.device = far.device()});
  CHECK_THROWS_WITH(f(train.x), Catch::Contains("runs on cuda:7, but variable ") && Catch::Contains(" is on cpu"));
}

TEST_CASE("the default device chooses for what names none") {
  const Far far;
  const auto twice = jit([](const Value &x) { return x + x; });
  const Tensor x({1, 2, 3}, {3});
  {
    const DeviceScope scope(far.device());
    const Tensor y = twice(x);
    CHECK(y.device() == far.device());
    CHECK(y.to_vector<float>() == std::vector<float>{2, 4, 6});
    CHECK(twice(y).to_vector<float>() == std::vector<float>{4, 8, 12});
    const Sequential model({Input({3}), Dense(1)});
    model.compile({.loss = "mse"});
    CHECK(std::isfinite(model.train_on_batch(x.reshape({1, 3}), Tensor::ones({1, 1}))["loss"]));
    CHECK(model(x.reshape({1, 3})).device() == far.device());
  }
  CHECK(twice(x).device() == Device::cpu());
  CHECK(twice(x.to(far.device())).to_vector<float>() == std::vector<float>{2, 4, 6}); // copied to the CPU
}

TEST_CASE("the stall alarm reaches who trains on a device apart") {
  const Far far;
  const Pictures train = trainingPictures(640);
  const Sequential model = classifier("mixed_float16");
  model.compile({.optimizer = optimizers::LossScaleOptimizer("sgd", {.stall_alarm_steps = 5}),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .device = far.device()});
  std::string said;
  set_output([&](std::string_view text) { said += text; });
  model.fit(train.x * std::nan(""), train.y, {.batch_size = 64, .epochs = 1, .verbose = 0});
  set_output(nullptr);
  CHECK_THAT(said, Catch::Contains("loss scaling skipped 10 steps in a row, up to step 10 of epoch 1"));
  CHECK(model.loss_scale_optimizer()->state().skipped_steps == 10);
}

TEST_CASE("A checkpoint goes from a device apart to the CPU, and training goes on there with the same bits") {
  const Far far;
  const TemporaryFolder folder;
  const std::string path = folder / "a.ckpt";
  const Pictures data = trainingPictures(256);
  const auto fit = [&](const Sequential &model, int64_t first, int64_t epochs) {
    (void)model.fit(data.x, data.y, {.batch_size = 64, .epochs = epochs, .verbose = 0, .initial_epoch = first});
  };
  const Sequential there = classifier("mixed_float16"), here = classifier("mixed_float16");
  compileFor(there, far.device());
  compileFor(here, Device::cpu());
  fit(there, 0, 1);
  Checkpoint(there).save(path);
  fit(there, 1, 2);
  CHECK(Checkpoint(here).restore(path).step == 4);
  fit(here, 1, 2);
  CHECK(weightsOf(here) == weightsOf(there));
  CHECK(Checkpoint(there).restore(path).converted.empty());
  CHECK(weightsOf(here) != weightsOf(there));
  fit(there, 1, 2);
  CHECK(weightsOf(here) == weightsOf(there));
}
