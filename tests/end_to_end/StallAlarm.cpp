// If fit skips many steps in a row, it warns once and leaves the weights unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

static std::string saidWhileFitting(const optimizers::LossScaleArgs &args, int64_t epochs, bool faulty) {
  PolicyScope scope("mixed_float16");
  Sequential model({Input({2}), Dense(1)});
  optimizers::LossScaleOptimizer optimizer(optimizers::SGD(0.1), args);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  std::string said;
  set_output([&](std::string_view text) { said += text; });
  std::vector<Tensor> before = model.get_weights();
  Tensor x = Tensor::full({8, 2}, faulty ? std::numeric_limits<float>::infinity() : 1.0f);
  model.fit(x, Tensor::ones({8, 1}), {.batch_size = 2, .epochs = epochs, .verbose = 0});
  set_output({});
  CHECK((model.get_weights()[0].to_vector<float>() == before[0].to_vector<float>()) == faulty);
  CHECK(optimizer.state().skipped_steps == (faulty ? 4 * epochs : 0));
  CHECK(optimizer.state().stalled_steps == optimizer.state().skipped_steps);
  CHECK(optimizer.state().last_fault == (faulty ? model.trainable_variables()[0].path() : ""));
  CHECK(optimizer.state().scale >= 1.0);
  return said;
}

// policies 13.5
TEST_CASE("A stall is told once, with the step, the count and the scale") {
  std::string said = saidWhileFitting({.stall_alarm_steps = 6}, 5, true);
  CHECK_THAT(said, Contains("skipped 6 steps in a row, up to step 2 of epoch 2") && Contains("loss scale is now 512") &&
                       Contains("first that of '"));
  CHECK(said.find("warning") == said.rfind("warning"));
  CHECK_THAT(saidWhileFitting({}, 10, true),
             Contains("skipped 32 steps in a row, up to step 4 of epoch 8") && Contains("loss scale is now 1."));
  CHECK(saidWhileFitting({.stall_alarm_steps = 0}, 10, true).empty());
  CHECK(saidWhileFitting({.initial_scale = 16, .stall_alarm_steps = 1}, 2, false).empty());
}
