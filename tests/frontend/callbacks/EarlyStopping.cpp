// EarlyStopping in fit: when it stops, which weights it restores, and its messages.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using callbacks::EarlyStoppingArgs;

namespace {

struct Outcome {
  int64_t epochs, stoppedEpoch;
  float weight; // initially 0; each epoch adds 1
  std::string said;
};
/// Trains for up to eight epochs that log these values as `signal`.
Outcome fitWith(EarlyStoppingArgs args, const std::vector<double> &values) {
  args.monitor = "signal";
  if (args.mode == MonitorMode::automatic)
    args.mode = MonitorMode::min;
  Sequential model({layers::Input({1}), layers::Dense(1, {.use_bias = false, .kernel_initializer = "zeros"})});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  callbacks::LambdaCallback signal({.on_epoch_end = [&](int64_t epoch, Logs &logs) {
    logs.set("signal", values[static_cast<size_t>(epoch)]);
    model.set_weights({model.get_weights()[0] + 1.0});
  }});
  callbacks::EarlyStopping stopping(args);
  Outcome outcome{};
  set_output([&](std::string_view text) { outcome.said += text; });
  History history = model.fit(Tensor::zeros({2, 1}), Tensor::zeros({2, 1}),
                              {.epochs = 8, .verbose = 0, .callbacks = {&signal, &stopping}});
  set_output({});
  outcome.epochs = static_cast<int64_t>(history.epoch().size());
  outcome.stoppedEpoch = stopping.stopped_epoch();
  outcome.weight = model.get_weights()[0].item<float>();
  return outcome;
}

const std::vector<double> falling{8, 7, 6, 5, 4, 3, 2, 1}, turning{5, 3, 2, 4, 4, 4, 4, 4};

} // namespace

TEST_CASE("EarlyStopping with verbose prints when it stopped and which epoch it restored, as Keras does") {
  Outcome outcome = fitWith({.patience = 2, .verbose = 1, .restore_best_weights = true}, turning);
  CHECK(outcome.said == "Epoch 5: early stopping\nRestoring model weights from the end of the best epoch: 3.\n");
  CHECK(outcome.weight == 3);
  CHECK(fitWith({.patience = 2, .verbose = 1}, turning).said == "Epoch 5: early stopping\n");
  CHECK(fitWith({.patience = 2, .restore_best_weights = true}, turning).said.empty());
  CHECK(fitWith({.patience = 2, .verbose = 1, .restore_best_weights = true}, falling).said ==
        "Restoring model weights from the end of the best epoch: 8.\n");
  CHECK(fitWith({.patience = 2, .verbose = 1}, falling).said.empty());
}

TEST_CASE("each argument of EarlyStopping decides when training stops") {
  CHECK(fitWith({}, turning).epochs == 4); // patience 0: stops at the first epoch that does not improve
  CHECK(fitWith({.patience = 1}, turning).stoppedEpoch == 3);
  CHECK(fitWith({.patience = 3}, turning).stoppedEpoch == 5);
  CHECK(fitWith({.patience = 2}, falling).epochs == 8);
  CHECK(fitWith({.min_delta = 1.5, .patience = 1}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 1, .mode = MonitorMode::max}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 1, .mode = MonitorMode::min}, falling).epochs == 8);
  CHECK(fitWith({.patience = 2, .baseline = 0.5}, falling).epochs == 8); // epochs that improve never stop the run
  CHECK(fitWith({.patience = 3, .baseline = 2.5}, turning).stoppedEpoch == 5);
  CHECK(fitWith({.patience = 3, .baseline = 1.5}, turning).stoppedEpoch == 3); // no epoch was better than the baseline
  CHECK(fitWith({.start_from_epoch = 5}, turning).stoppedEpoch == 6);
}

TEST_CASE("In the automatic mode the metric's class decides whether its value is to rise or to fall") {
  const Tensor x({-1, 1, -1, 1}, {4, 1}), y({0, 1, 1, 1}, {4, 1});
  const auto stopped = [&](const Metric &metric, const std::string &monitor, const std::vector<double> &kernels) {
    Sequential model({layers::Input({1}), layers::Dense(1, {.use_bias = false, .kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {metric}});
    callbacks::LambdaCallback move({.on_epoch_begin = [&](int64_t epoch, const Logs &) {
      model.set_weights({Tensor({static_cast<float>(kernels[static_cast<size_t>(epoch)])}, {1, 1})});
    }});
    callbacks::EarlyStopping stopping({.monitor = monitor, .patience = 1});
    (void)model.fit(x, y, {.epochs = 3, .verbose = 0, .callbacks = {&move, &stopping}});
    return stopping.stopped_epoch();
  };
  const metrics::Recall recall({.thresholds = {0.5}, .name = "found"});
  CHECK(stopped(recall, "found", {-1, 1, 1}) == 2); // rises from 1/3 to 2/3, then stays constant
  CHECK(stopped(recall, "found", {1, -1, -1}) == 1);
  CHECK(stopped(Metric("mse"), "mse", {-1, 1, 1}) == 2); // falls, then stays constant
  CHECK(stopped(Metric("mse"), "mse", {1, -1, -1}) == 1);
  CHECK(stopped(Metric("cosine_similarity"), "cosine_similarity", {-1, 1, 1}) == 2); // rises
  try {
    (void)stopped(metrics::FalsePositives({.thresholds = {0.5}, .name = "wrong"}), "wrong", {1, 1, 1});
    FAIL("no error");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK_THAT(error.message(), Catch::Matchers::Contains("monitor=wrong, but isn't able to automatically determine"));
  }
}
