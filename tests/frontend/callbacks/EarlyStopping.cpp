// EarlyStopping in fit: when it stops, which weights it restores, and its messages.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using callbacks::EarlyStoppingArgs;

namespace {

struct Outcome {
  int64_t epochs, stoppedEpoch;
  float weight; // 0 at the start; each epoch adds 1
  std::string said;
};
/// Up to eight epochs that log these values as `signal`.
Outcome fitWith(EarlyStoppingArgs args, const std::vector<double> &values) {
  args.monitor = "signal";
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
  CHECK(fitWith({}, turning).epochs == 4); // patience 0: stops at the first epoch that is no better
  CHECK(fitWith({.patience = 1}, turning).stoppedEpoch == 3);
  CHECK(fitWith({.patience = 3}, turning).stoppedEpoch == 5);
  CHECK(fitWith({.patience = 2}, falling).epochs == 8);
  CHECK(fitWith({.min_delta = 1.5, .patience = 1}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 1, .mode = MonitorMode::max}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 1, .mode = MonitorMode::min}, falling).epochs == 8);
  CHECK(fitWith({.patience = 2, .baseline = 0.5}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 2, .baseline = 6.5}, falling).stoppedEpoch == 1);
  CHECK(fitWith({.patience = 3, .baseline = 6.5}, falling).epochs == 8); // the baseline is reached in time
  CHECK(fitWith({.start_from_epoch = 5}, turning).stoppedEpoch == 6);
}
