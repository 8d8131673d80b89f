// SwapEMAWeights: averages in validation and in saved files, and the weights during training.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using callbacks::LambdaCallback;
using callbacks::SwapEMAWeights;
using Catch::Matchers::Contains;

namespace {

using Kernel = std::vector<float>;
Sequential net(bool usesEma = true, const char *policy = "float32") {
  set_random_seed(2);
  const PolicyScope scope{DTypePolicy(policy)};
  Sequential model({layers::Input({2}), layers::Dense(1, {.use_bias = false, .name = "a"})}, {.name = "net"});
  model.compile({.optimizer = optimizers::SGD(0.05, {.use_ema = usesEma, .ema_momentum = 0.5}), .loss = "mse"});
  return model;
}
Tensor x() { return counted({6, 2}) / 6.0; }
Tensor y() { return counted({6, 1}) / 3.0; }
Kernel kernel(const Model &model) { return model.get_weights()[0].astype(float32).to_vector<float>(); }

/// The kernel after each update, in float32.
std::vector<Kernel> kernelsOf(const Model &model, FitArgs args) {
  std::vector<Kernel> kernels;
  args.verbose = 0;
  args.callbacks.push_back(
      LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs &) { kernels.push_back(kernel(model)); }}));
  (void)model.fit(x(), y(), args);
  return kernels;
}
/// The average that the optimizer keeps: momentum 0.5, no bias correction. The first update sets it to the weights.
Kernel averageOf(const std::vector<Kernel> &kernels) {
  Kernel average = kernels[0];
  for (size_t i = 1; i < kernels.size(); ++i)
    for (size_t k = 0; k < average.size(); ++k)
      average[k] = 0.5f * average[k] + 0.5f * kernels[i][k];
  return average;
}

} // namespace

TEST_CASE("Validation sees the averages, and training goes on with the weights", "[callbacks]") {
  for (const char *policy : {"float32", "mixed_float16"}) {
    std::vector<Kernel> seen;
    const Sequential plain = net(true, policy), swapped = net(true, policy);
    const FitArgs args{.batch_size = 2, .epochs = 3, .shuffle = false};
    const std::vector<Kernel> expected = kernelsOf(plain, args);
    FitArgs withSwap = args;
    withSwap.validation_batch_size = 6;
    withSwap.validation_data = {x(), y()};
    struct Look : Callback {
      std::vector<Kernel> *seen;
      void on_test_batch_begin(int64_t, const Logs &) override { seen->push_back(kernel(model())); }
    };
    Look looking;
    looking.seen = &seen;
    withSwap.callbacks = {SwapEMAWeights(), &looking};
    CHECK(kernelsOf(swapped, withSwap) == expected);
    REQUIRE(seen.size() == 3);
    for (size_t epoch = 0; epoch < 3; ++epoch) {
      const Kernel average =
          averageOf({expected.begin(), expected.begin() + 3 * static_cast<std::ptrdiff_t>(epoch + 1)});
      for (size_t k = 0; k < average.size(); ++k)
        CHECK(seen[epoch][k] == Approx(average[k]).epsilon(1e-5));
    }
    CHECK(kernel(swapped) == kernel(plain)); // the weights of both are the averages at the end
  }
}

TEST_CASE("evaluate and predict use the averages and give the weights back", "[callbacks]") {
  const Sequential model = net();
  (void)kernelsOf(model, {.batch_size = 2});
  const auto half = [&] { // the weights are the averages at the end; a weight of another value distinguishes them
    model.set_weights({Tensor::full({2, 1}, 9.0)});
  };
  const Kernel average = kernel(model);
  half();
  const Tensor prediction = model.predict(x(), {.verbose = 0, .callbacks = {SwapEMAWeights()}});
  CHECK(kernel(model) == Kernel{9, 9});
  model.set_weights({Tensor(average, {2, 1})});
  CHECK(model.predict(x(), {.verbose = 0}).to_vector<float>() == prediction.to_vector<float>());
  const double loss = model.evaluate(x(), y(), {.verbose = 0})["loss"];
  half();
  CHECK(model.evaluate(x(), y(), {.verbose = 0, .callbacks = {SwapEMAWeights()}})["loss"] == loss);
  CHECK(kernel(model) == Kernel{9, 9});
}

TEST_CASE("With swap_on_epoch a checkpoint has the averages, and the run ends with them, stopped or not",
          "[callbacks]") {
  const TemporaryFolder folder;
  for (const bool isStopped : {false, true}) {
    const Sequential plain = net(), swapped = net();
    FitArgs args{.batch_size = 2, .epochs = isStopped ? 2 : 3, .shuffle = false};
    const std::vector<Kernel> expected = kernelsOf(plain, args);
    args.epochs = 3;
    struct Stop : Callback {
      void on_epoch_end(int64_t epoch, Logs &) override {
        if (epoch == 1)
          model().stop_training();
      }
    };
    args.callbacks = {SwapEMAWeights(true),
                      callbacks::ModelCheckpoint(folder / "{epoch}.weights.h5", {.save_weights_only = true})};
    if (isStopped)
      args.callbacks.push_back(Stop());
    CHECK(kernelsOf(swapped, args) == expected);
    CHECK(kernel(swapped) == kernel(plain));
    const Sequential read = net();
    read.load_weights(folder / "1.weights.h5");
    const Kernel average = averageOf({expected.begin(), expected.begin() + 3});
    for (size_t k = 0; k < average.size(); ++k)
      CHECK(kernel(read)[k] == Approx(average[k]).epsilon(1e-5));
  }
}

TEST_CASE("A run that fails with the averages in the model gives the weights back", "[callbacks]") {
  const auto broken = [](int64_t, const Logs &) { throw Error(ErrorKind::runtime_error, "broken"); };
  const Sequential plain = net(), failing = net();
  const FitArgs args{.batch_size = 2, .shuffle = false};
  (void)kernelsOf(plain, args);
  FitArgs validated = args, saved = args;
  validated.validation_data = {x(), y()};
  validated.callbacks = {SwapEMAWeights(), LambdaCallback({.on_test_batch_end = broken})};
  saved.callbacks = {SwapEMAWeights(true), LambdaCallback({.on_epoch_end = broken})};
  for (FitArgs *fit : {&validated, &saved}) {
    Kernel before;
    fit->callbacks.push_back(
        LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs &) { before = kernel(failing); }}));
    CHECK_THAT(errorOf([&] { (void)kernelsOf(failing, *fit); }), Contains("broken"));
    CHECK(kernel(failing) == before);
    CHECK(kernel(failing) != kernel(plain)); // the latter are the averages
  }
  const Kernel weights = kernel(failing);
  const std::vector<CallbackArg> both = {SwapEMAWeights(),
                                         LambdaCallback({.on_test_batch_end = broken, .on_predict_batch_end = broken})};
  CHECK_THAT(errorOf([&] { (void)failing.evaluate(x(), y(), {.verbose = 0, .callbacks = both}); }), Contains("broken"));
  CHECK(kernel(failing) == weights);
  CHECK_THAT(errorOf([&] { (void)failing.predict(x(), {.verbose = 0, .callbacks = both}); }), Contains("broken"));
  CHECK(kernel(failing) == weights);
  CHECK_THAT(errorOf([&] { (void)failing.predict(Tensor::ones({2, 3}), {.verbose = 0, .callbacks = both}); }),
             Contains("shape"));
  CHECK(kernel(failing) == weights);
}

TEST_CASE("SwapEMAWeights refuses an optimizer without averages", "[callbacks]") {
  const Sequential model = net(false);
  CHECK_THAT(errorOf([&] { (void)model.fit(x(), y(), {.verbose = 0, .callbacks = {SwapEMAWeights()}}); }),
             Contains("ValueError") &&
                 Contains("SwapEMAWeights must be used when `use_ema=True` is set on the optimizer"));
  CHECK_THAT(errorOf([&] { (void)model.evaluate(x(), y(), {.verbose = 0, .callbacks = {SwapEMAWeights()}}); }),
             Contains("use_ema"));
  const Sequential fresh = net();
  CHECK(std::isfinite(
      fresh.evaluate(x(), y(), {.verbose = 0, .callbacks = {SwapEMAWeights()}})["loss"])); // no average exists yet
}
