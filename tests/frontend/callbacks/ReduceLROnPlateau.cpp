// ReduceLROnPlateau in fit, compared with Keras's rates.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using callbacks::ReduceLROnPlateau;
using Catch::Matchers::Contains;

namespace {

/// The rates that 15 epochs log, then the final rate.
std::vector<double> ratesOf(const callbacks::ReduceLROnPlateauArgs &args) {
  const std::vector<double> values{5, 4, 4, 4, 4.5, 3, 3, 3, 3, 3, 3, 3, 2.9, 2.9, 2.9};
  callbacks::LambdaCallback signal(
      {.on_epoch_end = [&](int64_t epoch, Logs &logs) { logs.set("signal", values[static_cast<size_t>(epoch)]); }});
  Sequential model({layers::Input({1}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(1.0), .loss = "mse"});
  callbacks::ReduceLROnPlateauArgs with = args;
  if (with.mode == MonitorMode::automatic)
    with.mode = MonitorMode::min;
  ReduceLROnPlateau plateau(with);
  History history = model.fit(Tensor::zeros({2, 1}), Tensor::zeros({2, 1}),
                              {.epochs = 15, .verbose = 0, .callbacks = {&signal, &plateau}});
  std::vector<double> rates = history["learning_rate"];
  rates.push_back(model.optimizer().learning_rate());
  return rates;
}

} // namespace

TEST_CASE("the rate falls on a plateau as Keras's does") {
  CHECK(near(ratesOf({.monitor = "signal", .factor = 0.5, .patience = 1}),
             {1, 1, 1, 0.5, 0.25, 0.125, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.001953125,
              0.001953125, 0.0009765625, 0.00048828125}));
  std::string said;
  set_output([&](std::string_view text) { said += text; });
  CHECK(near(ratesOf({.monitor = "signal",
                      .factor = 0.5,
                      .patience = 2,
                      .verbose = 1,
                      .min_delta = 0.15,
                      .cooldown = 1,
                      .min_lr = 0.1}),
             {1, 1, 1, 1, .5, .5, .5, .5, .25, .25, .125, .125, .1, .1, .1, .1}));
  set_output({});
  CHECK_THAT(said, Contains("\nEpoch 4: ReduceLROnPlateau reducing learning rate to 0.5.\n"));
  said.clear();
  set_output([&](std::string_view text) { said += text; });
  CHECK(near(ratesOf({.monitor = "other"}), std::vector<double>(16, 1.0)));
  set_output({});
  CHECK(said == "\nwarning: Learning rate reduction is conditioned on metric `other` which is not available. Available "
                "metrics are: loss,signal,learning_rate\n"); // this warning comes once
  CHECK_THAT(errorOf([] { ReduceLROnPlateau({.factor = 1.0}); }),
             Contains("ValueError: ReduceLROnPlateau does not support a factor >= 1.0. Received factor=1"));
}
