// Weights under mixed policies are cast once an update, and once ever when they are frozen.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Variables.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::testing;
using Catch::Matchers::Contains;

namespace {

void expectCasts(const std::vector<Variable> &variables, int64_t refreshes, int64_t together) {
  REQUIRE_FALSE(variables.empty());
  for (const Variable &variable : variables) {
    INFO(variable.path());
    StoredVariable::ShadowCounts counts = variable.impl()->memory->shadowCounts();
    CHECK(counts.shadows == 1);
    CHECK(counts.refreshes == refreshes);
    CHECK(counts.coWrites == together);
  }
}

Tensor images(int64_t from, int64_t to) { return mnist().x_train.slice(from, to); }
Tensor labels(int64_t from, int64_t to) { return mnist().y_train.slice(from, to); }

} // namespace

TEST_CASE("each parameter is cast once an update, whatever else is computed with it") {
  const char *policy = GENERATE("mixed_bfloat16", "mixed_float16");
  INFO(policy);
  Sequential model = smallMlp(policy);
  std::vector<Variable> all = model.variables();
  model.train_on_batch(images(0, 128), labels(0, 128));
  expectCasts(all, 1, 1); // the initial values, and the first update
  model.train_on_batch(images(0, 100), labels(0, 100)); // a tail batch
  expectCasts(all, 1, 2);
  model.evaluate(images(0, 256), labels(0, 256), {.batch_size = 64, .verbose = 0});
  Tensor before = model.predict(images(0, 1), {.verbose = 0});
  expectCasts(all, 1, 2);

  all[0].assign(all[0].value());
  CHECK(model.predict(images(0, 1), {.verbose = 0}).astype(float32).to_vector<float>() == before.astype(float32).to_vector<float>());
  expectCasts({all[0]}, 2, 2);
  expectCasts({all[1], all[2], all[3]}, 1, 2);
  CHECK_THAT(model.ir(Stage::plan), Contains("written with its variable"));
}

TEST_CASE("what is frozen is cast once ever") {
  Sequential model = smallMlp("mixed_bfloat16");
  model.get_layer("hidden").set_trainable(false);
  model.compile({.optimizer = optimizers::Adam(1e-3), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  for (int step = 0; step < 3; ++step)
    model.train_on_batch(images(0, 32), labels(0, 32));
  model.predict(images(0, 5), {.verbose = 0});
  expectCasts(model.get_layer("hidden").variables(), 1, 0);
  expectCasts(model.get_layer("head").variables(), 1, 3);
}

TEST_CASE("a skipped update leaves the casts of the weights as they are") {
  Sequential model = smallMlp("mixed_float16");
  model.train_on_batch(images(0, 32), labels(0, 32));
  Tensor before = model.predict(images(0, 16), {.verbose = 0});
  optimizers::LossScaleOptimizer optimizer = *model.loss_scale_optimizer();
  optimizer.variables()[3].assign(Tensor::full({}, std::numeric_limits<float>::infinity(), float32)); // the scale
  model.train_on_batch(images(0, 32), labels(0, 32));
  CHECK(optimizer.state().skipped_steps == 1);
  CHECK(model.predict(images(0, 16), {.verbose = 0}).astype(float32).to_vector<float>() == before.astype(float32).to_vector<float>());
  expectCasts(model.variables(), 1, 2);
}

TEST_CASE("float32 weights have no shadows of fewer bytes") {
  Sequential model = smallMlp("float32");
  model.train_on_batch(images(0, 32), labels(0, 32));
  for (const Variable &variable : model.variables())
    CHECK(variable.impl()->memory->shadowCounts().shadows == 0);
}
