// Keras's own tests of compile, fit and related functions, by their ids in the list of acceptance checks.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

using namespace halftone;
using namespace halftone::layers;

namespace {

struct Check {
  const char *id;
  std::function<void()> run;
};

Approx about(double value, double relative = 1e-6) { return Approx(value).epsilon(relative); }
std::vector<std::string> keysOf(const Logs &logs) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : logs)
    keys.push_back(name);
  return keys;
}
using Names = std::vector<std::string>;

/// A Dense of ones without bias on 4 inputs: its output is 4 for inputs of ones.
Sequential onesModel(int64_t units, const CompileArgs &extra = {}) {
  Sequential model({Input({4}), Dense(units, {.use_bias = false, .kernel_initializer = "ones"})});
  CompileArgs args = extra;
  args.optimizer = "sgd";
  args.loss = "mse";
  model.compile(args);
  return model;
}
/// 15 sigmoids in a row: the gradient of the first one is below the smallest positive float16.
bool firstKernelMoves(bool autoScale) {
  PolicyScope scope("mixed_float16");
  std::vector<Layer> layers{Input({1})};
  for (int i = 0; i < 15; ++i)
    layers.push_back(Dense(1, {.activation = "sigmoid", .use_bias = false, .kernel_initializer = "ones"}));
  Sequential model(layers);
  model.compile(
      {.optimizer = optimizers::SGD(1e9), .loss = "mse", .auto_scale_loss = autoScale, .numerics = Numerics::strict});
  model.fit(Tensor::ones({1, 1}), Tensor::ones({1, 1}), {.batch_size = 1, .verbose = 0});
  return model.get_weights()[0].item<float>() != 1.0f;
}

const Check checks[] = {
    {"A-085",
     [] {
       auto optimizerOf = [](const char *policy, bool autoScale) {
         PolicyScope scope(policy);
         Sequential model({Input({1}), Dense(1)});
         model.compile({.optimizer = "rmsprop", .loss = "mse", .auto_scale_loss = autoScale});
         model.fit(Tensor::zeros({2, 1}), Tensor::zeros({2, 1}), {.verbose = 0});
         return model.loss_scale_optimizer() ? "LSO of " + model.loss_scale_optimizer()->inner_optimizer().name()
                                             : model.optimizer().name();
       };
       CHECK(optimizerOf("mixed_float16", true) == "LSO of rmsprop");
       CHECK(optimizerOf("mixed_float16", false) == "rmsprop");
       CHECK(optimizerOf("mixed_bfloat16", true) == "rmsprop");
     }},
    {"A-086",
     [] {
       CHECK_FALSE(firstKernelMoves(false));
       CHECK(firstKernelMoves(true));
     }},
    {"A-102",
     [] {
       std::vector<int32_t> values(32);
       std::iota(values.begin(), values.end(), 0);
       Tensor x(values, {16, 2});
       Sequential model({Dense(2, {.kernel_initializer = "ones", .bias_initializer = "ones"})});
       optimizers::Adam adam(schedules::ExponentialDecay(.05, 1, .9));
       CHECK(adam.variables().size() == 1);
       model.compile({.optimizer = adam, .loss = "mse"});
       History history = model.fit(x, x, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
       REQUIRE(history["loss"].size() == 3);
       CHECK(history["loss"][0] == about(230.7945709, 5e-5));
       CHECK(history["loss"][1] == about(128.3032032, 5e-5));
       CHECK(history["loss"][2] == about(79.3364868, 5e-5));
       CHECK(adam.iterations() == 12);
     }},
    {"A-104",
     [] {
       Sequential model = onesModel(3);
       Tensor x = Tensor::ones({100, 4}), y = Tensor::zeros({100, 3});
       std::vector<float> weights(100);
       for (size_t i = 0; i < weights.size(); ++i)
         weights[i] = static_cast<float>(i) / 50.0f;
       Tensor sampleWeight(weights, {100});
       CHECK(model.train_on_batch(x, y)["loss"] == about(16.0));
       (void)model.train_on_batch(x, y);
       CHECK(model.train_on_batch(x, y, {.sample_weight = sampleWeight})["loss"] == about(14.217, 1e-4));
       CHECK(model.test_on_batch(x, y, {.sample_weight = sampleWeight})["loss"] == about(13.476, 1e-4));
       CHECK(model.train_on_batch(x, y, {.class_weight = {{1, .3}, {0, .2}}})["loss"] == about(2.722, 1e-3));
     }},
    {"A-105",
     [] {
       Sequential model = onesModel(3, {.metrics = {"mean_squared_error"}});
       Logs logs = model.evaluate(Tensor::ones({100, 4}), Tensor::zeros({100, 3}), {.batch_size = 16, .verbose = 0});
       CHECK(keysOf(logs) == Names{"loss", "mean_squared_error"});
       CHECK(logs["loss"] == about(16.0));
       CHECK(logs["mean_squared_error"] == about(16.0));
     }},
    {"A-106", // outputs are not in the logs of predict, which are scalars
     [] {
       struct Watch : Callback {
         Names train, test, epoch, trainEnd, testEnd;
         int64_t begins = 0;
         void begin(const Logs &logs) {
           CHECK(keysOf(logs).empty());
           ++begins;
         }
         void on_train_begin(const Logs &logs) override { begin(logs); }
         void on_epoch_begin(int64_t, const Logs &logs) override { begin(logs); }
         void on_train_batch_begin(int64_t, const Logs &logs) override { begin(logs); }
         void on_test_begin(const Logs &logs) override { begin(logs); }
         void on_train_batch_end(int64_t, const Logs &logs) override { train = keysOf(logs); }
         void on_test_batch_end(int64_t, const Logs &logs) override { test = keysOf(logs); }
         void on_test_end(const Logs &logs) override { testEnd = keysOf(logs); }
         void on_epoch_end(int64_t, Logs &logs) override { epoch = keysOf(logs); }
         void on_train_end(const Logs &logs) override { trainEnd = keysOf(logs); }
       } watch;
       Sequential model = onesModel(3, {.metrics = {"mean_absolute_error"}});
       Tensor x = Tensor::ones({8, 4}), y = Tensor::zeros({8, 3});
       const Names batch{"loss", "mean_absolute_error"},
           both{"loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"};
       model.fit(x, y, {.batch_size = 4, .verbose = 0, .callbacks = {&watch}, .validation_data = {x, y}});
       CHECK(watch.train == batch);
       CHECK(watch.test == batch);
       CHECK(watch.testEnd == batch);
       CHECK(watch.epoch == both);
       CHECK(watch.trainEnd == both);
       CHECK(watch.begins == 5); // train, epoch, two batches, test
     }},
};

} // namespace

TEST_CASE("Acceptance checks of training") {
  for (const Check &check : checks)
    DYNAMIC_SECTION(check.id) { check.run(); }
}
