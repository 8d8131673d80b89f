// Loss scaling in fit: the models that have it, and that a faulty step changes nothing but the scale.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::testing;

namespace {
Sequential floatModel(const std::string &policy) {
  PolicyScope scope(policy);
  set_random_seed(5);
  Sequential model({Input({12}), Dense(16, {.activation = "relu"}), Dense(3)}, {.name = "net"});
  model.compile(
      {.optimizer = optimizers::Adam(1e-2), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}
Tensor inputs(float value) {
  std::vector<float> data(8 * 12);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = 0.01f * static_cast<float>(i % 17) - 0.05f;
  data[5] = value;
  return Tensor(std::move(data), {8, 12});
}
} // namespace

// policies 13.1
TEST_CASE("only a model whose policy is mixed_float16 scales its loss") {
  CHECK(floatModel("mixed_float16").loss_scale_optimizer().has_value());
  for (const char *policy : {"float32", "mixed_bfloat16", "float16", "bfloat16"})
    CHECK_FALSE(floatModel(policy).loss_scale_optimizer().has_value());
}

TEST_CASE("an injected infinity changes no weight, slot or iteration; the scale halves; training goes on") {
  Sequential model = floatModel("mixed_float16");
  Tensor y = Tensor::of<int32_t>({0, 1, 2, 0, 1, 2, 0, 1}, {8});
  model.train_on_batch(inputs(0.1f), y);
  optimizers::LossScaleOptimizer optimizer = *model.loss_scale_optimizer();
  CHECK(optimizer.state().scale == 32768.0);
  CHECK(optimizer.iterations() == 1);
  auto weights = valuesOf(model.variables()), slots = valuesOf(optimizer.inner_optimizer().variables());
  model.train_on_batch(inputs(std::numeric_limits<float>::infinity()), y);
  CHECK((valuesOf(model.variables()) == weights));
  CHECK((valuesOf(optimizer.inner_optimizer().variables()) == slots));
  CHECK(optimizer.iterations() == 1);
  CHECK(optimizer.state().scale == 16384.0);
  CHECK(optimizer.state().skipped_steps == 1);
  CHECK(optimizer.state().last_fault == model.trainable_variables()[0].path());
  CHECK(optimizer.state().good_steps == 0);
  model.train_on_batch(inputs(0.1f), y);
  CHECK(optimizer.iterations() == 2);
  CHECK((valuesOf(model.variables()) != weights));
  CHECK(optimizer.state().scale == 16384.0);
}
