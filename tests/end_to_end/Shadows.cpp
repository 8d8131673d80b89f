// Weights under mixed policies are cast once per update; frozen weights are cast once.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Target.h"
#include "frontend/graph/Variables.h"
#include "runtime/devices/Registry.h"
#include "tests/end_to_end/Mlp.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <regex>
#include <sstream>

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

/// Returns true if k x n bfloat16 weights are packed for the device of the tests.
bool packsWeights(int64_t k, int64_t n) {
  const std::string target = deviceRuntime(default_device()).valueOrThrow()->target();
  return (*compiler::Target::find(target))
      ->lowerings()
      .weightPanels(compiler::Numerics::fast(), DType::bfloat16, k, n)
      .has_value();
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
  expectCasts(all, 1, 1);                               // the initial values, and the first update
  model.train_on_batch(images(0, 100), labels(0, 100)); // a smaller last batch
  expectCasts(all, 1, 2);
  model.evaluate(images(0, 256), labels(0, 256), {.batch_size = 64, .verbose = 0});
  Tensor before = model.predict(images(0, 1), {.verbose = 0});
  expectCasts(all, 1, 2);

  all[0].assign(all[0].value());
  CHECK(model.predict(images(0, 1), {.verbose = 0}).astype(float32).to_vector<float>() ==
        before.astype(float32).to_vector<float>());
  expectCasts({all[0]}, 2, 2);
  expectCasts({all[1], all[2], all[3]}, 1, 2);
  CHECK_THAT(model.ir(Stage::plan), Contains("written with its variable"));
}

TEST_CASE("a frozen variable is cast once for all plays") {
  Sequential model = smallMlp("mixed_bfloat16");
  model.get_layer("hidden").set_trainable(false);
  model.compile(
      {.optimizer = optimizers::Adam(1e-3), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
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
  optimizer.variables()[3].assign(Tensor::full({}, std::numeric_limits<float>::infinity(), float32)); // sets the scale
  model.train_on_batch(images(0, 32), labels(0, 32));
  CHECK(optimizer.state().skipped_steps == 1);
  CHECK(model.predict(images(0, 16), {.verbose = 0}).astype(float32).to_vector<float>() ==
        before.astype(float32).to_vector<float>());
  expectCasts(model.variables(), 1, 2);
}

TEST_CASE("a layer that thaws is cast with its updates, one that freezes no more") {
  Sequential model = smallMlp("mixed_bfloat16");
  Layer hidden = model.get_layer("hidden");
  auto steps = [&](int count) {
    for (int step = 0; step < count; ++step)
      model.train_on_batch(images(0, 32), labels(0, 32));
  };
  auto compile = [&](bool trainable) {
    hidden.set_trainable(trainable);
    model.compile(
        {.optimizer = optimizers::SGD(1e-2), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  };
  compile(false);
  steps(2);
  expectCasts(hidden.variables(), 1, 0);
  compile(true);
  steps(2);
  expectCasts(hidden.variables(), 1, 2);
  compile(false);
  steps(2);
  model.evaluate(images(0, 32), labels(0, 32), {.verbose = 0});
  expectCasts(hidden.variables(), 1, 2);
  expectCasts(model.get_layer("head").variables(), 1, 6);
}

TEST_CASE("a layer whose policy changes reads casts to the new dtype") {
  Sequential model = smallMlp("mixed_bfloat16"), other = smallMlp("mixed_float16");
  model.train_on_batch(images(0, 32), labels(0, 32));
  other.set_weights(model.get_weights());
  for (const Layer &layer : model.layers())
    layer.set_dtype_policy("mixed_float16");
  Tensor ours = model.predict(images(0, 16), {.verbose = 0}), theirs = other.predict(images(0, 16), {.verbose = 0});
  CHECK(ours.dtype() == float16);
  CHECK(ours.astype(float32).to_vector<float>() == theirs.astype(float32).to_vector<float>());
  for (const Variable &variable : model.variables())
    CHECK(variable.impl()->memory->shadowCounts().shadows == 2);
}

TEST_CASE("two models over one layer read one cast, which either's update writes") {
  PolicyScope scope("mixed_bfloat16");
  set_random_seed(5);
  Layer shared = layers::Dense(10, {.name = "shared"});
  CompileArgs args{.optimizer = optimizers::SGD(1e-2),
                   .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})};
  auto over = [&](const char *name) {
    Sequential model({Input({28, 28}), layers::Flatten(), shared}, {.name = name});
    model.compile(args);
    return model;
  };
  Sequential first = over("first"), second = over("second");
  Tensor x = images(0, 32).astype(float32), y = labels(0, 32);
  auto predicted = [&](Sequential &model) {
    return model.predict(x, {.verbose = 0}).astype(float32).to_vector<float>();
  };
  first.train_on_batch(x, y);
  std::vector<float> once = predicted(second);
  second.train_on_batch(x, y);
  CHECK(predicted(first) == predicted(second));
  CHECK(predicted(first) != once);
  expectCasts(shared.variables(), 1, 2);
}

TEST_CASE("micro-batches reuse the casts of the last update") {
  Sequential model = smallMlp("mixed_bfloat16"), fresh = smallMlp("mixed_bfloat16");
  model.compile({.optimizer = optimizers::Adam(1e-3, {.gradient_accumulation_steps = 2}),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  auto predicted = [](Sequential &of) {
    return of.predict(images(0, 16), {.verbose = 0}).astype(float32).to_vector<float>();
  };
  const std::vector<float> before = predicted(model);
  model.train_on_batch(images(0, 32), labels(0, 32));
  CHECK(predicted(model) == before);
  model.train_on_batch(images(32, 64), labels(32, 64));
  fresh.set_weights(model.get_weights());
  CHECK(predicted(model) == predicted(fresh));
  CHECK(predicted(model) != before);
  model.train_on_batch(images(64, 96), labels(64, 96));
  expectCasts(model.variables(), 1, 3);
}

TEST_CASE("weights set by a host are cast anew, once, and exactly") {
  Sequential model = smallMlp("mixed_float16"), fresh = smallMlp("mixed_float16");
  model.train_on_batch(images(0, 32), labels(0, 32));
  const std::vector<Tensor> trained = model.get_weights();
  fresh.set_weights(trained);
  auto predicted = [](Sequential &of) {
    return of.predict(images(0, 16), {.verbose = 0}).astype(float32).to_vector<float>();
  };
  CHECK(predicted(model) == predicted(fresh));
  model.set_weights(fresh.get_weights());
  CHECK(predicted(model) == predicted(fresh));
  model.train_on_batch(images(0, 32), labels(0, 32));
  expectCasts(model.variables(), 2, 2);
  expectCasts(fresh.variables(), 1, 0);
}

TEST_CASE("the launch that writes a weight writes its cast, and a guarded update of all weights is one launch") {
  const std::string policy = GENERATE("mixed_bfloat16", "mixed_float16");
  INFO(policy);
  Sequential model = smallMlp(policy);
  std::istringstream plan(model.ir(Stage::plan, {.program = Program::train, .batch_size = 32}));
  std::map<std::string, std::string> slots, variableOf; // by symbol; by the slot of the shadow
  int launches = 0, casts = 0;
  std::smatch match;
  for (std::string line; std::getline(plan, line);)
    if (std::regex_search(line, match, std::regex("^  (s\\d+): variable @(\\w+)"))) {
      slots[match[2]] = match[1];
    } else if (std::regex_search(line, match, std::regex("^  (s\\d+): shadow @(\\w+)_b?float16 "))) {
      variableOf[match[1]] = slots.at(match[2]);
    } else if (std::regex_search(line, match, std::regex("^\\d+: (with )?.*-> \\(([^)]*)\\)"))) {
      const std::string writes = match[2].str() + ",";
      const int before = casts;
      for (const auto &[shadow, variable] : variableOf)
        if (writes.find(shadow + ",") != std::string::npos) {
          ++casts;
          CHECK_THAT(writes, Contains(variable + ","));
        }
      launches += casts > before && !match[1].matched;
    }
  CHECK(variableOf.size() == 4);
  CHECK(casts == 4);
  if (policy == "mixed_float16")
    CHECK(launches == 1);
}

TEST_CASE("float32 weights have no shadows of fewer bytes") {
  Sequential model = smallMlp("float32");
  model.train_on_batch(images(0, 32), labels(0, 32));
  for (const Variable &variable : model.variables())
    CHECK(variable.impl()->memory->shadowCounts().shadows == 0);
}

TEST_CASE(
    "a weight of bfloat16 is packed once for any number of rows, anew when a host writes it, and with the same bits") {
  constexpr int64_t k = 2080, n = 128; // several parts of K
  layers::Dense dense(n, {.use_bias = false, .dtype = "bfloat16"});
  auto layer = jit([dense](const Value &x) mutable { return dense(x); });
  auto plain = jit([](const Value &x, const Value &w) { return ops::matmul(x, w); });
  auto numbers = [](const Shape &shape, int period, float scale) {
    Tensor tensor = Tensor::zeros(shape);
    int i = 0;
    for (float &value : tensor.mutable_span<float>())
      value = static_cast<float>(i++ % period - period / 2) * scale;
    return tensor.astype(bfloat16);
  };
  // Normal values, then subnormal values, which AVX512_BF16 would treat as 0.
  const Tensor normal = numbers({k, n}, 13, 0.125F), subnormal = numbers({k, n}, 11, 1e-39F);
  for (int64_t m : {1, 5, 8, 13, 40})
    (void)layer(numbers({m, k}, 7, 1));
  int64_t refreshes = 1;
  // Values of the same magnitude if possible, subnormal only in the last part of K.
  Tensor both = numbers({k, n}, 13, 1e-37F).astype(float32);
  const std::vector<float> small = subnormal.astype(float32).to_vector<float>();
  std::copy(small.end() - 16 * n, small.end(), both.mutable_span<float>().end() - 16 * n);
  for (const Tensor &weight : {normal, subnormal, both.astype(bfloat16), normal}) {
    dense.set_weights({weight});
    for (int64_t m : {5, 8, 13, 40}) { // with fewer rows a plain operand is multiplied without pairs
      INFO(m);
      const Tensor x = numbers({m, k}, 7, 0x1p60F);
      const std::vector<float> ours = layer(x).astype(float32).to_vector<float>();
      CHECK(ours == plain(x, weight).astype(float32).to_vector<float>());
      CHECK(std::ranges::any_of(ours, [](float value) { return value != 0; }));
    }
    ++refreshes;
  }
  StoredVariable::ShadowCounts counts = dense.variables()[0].impl()->memory->shadowCounts();
  const bool packs = packsWeights(k, n);
  CHECK(counts.shadows == (packs ? 1 : 0));
  CHECK(counts.refreshes == (packs ? refreshes : 0));
}

TEST_CASE("casts that a program only reads are packed, out of the kept cast, once an update") {
  Sequential model = smallMlp("mixed_bfloat16"), fresh = smallMlp("mixed_bfloat16");
  const Variable weight = model.get_layer("hidden").variables()[0];
  const int64_t packs = packsWeights(784, 64);
  auto expectPacked = [&](int64_t times) {
    StoredVariable::ShadowCounts counts = weight.impl()->memory->shadowCounts();
    CHECK(counts.ofShadows == packs);
    CHECK(counts.refreshesOfShadows == packs * times);
  };
  auto predicted = [](Sequential &of) {
    return of.predict(images(0, 19), {.verbose = 0}).astype(float32).to_vector<float>();
  };
  model.train_on_batch(images(0, 32), labels(0, 32));
  CHECK(weight.impl()->memory->shadowCounts().ofShadows == 0); // an update writes no panels
  for (int updates = 1; updates <= 2; ++updates) {
    model.evaluate(images(0, 100), labels(0, 100), {.batch_size = 64, .verbose = 0});
    fresh.set_weights(model.get_weights());
    CHECK(predicted(model) == predicted(fresh));
    expectCasts({weight}, 1, updates);
    expectPacked(updates);
    model.train_on_batch(images(0, 32), labels(0, 32));
  }
  expectCasts(fresh.variables(), 2, 0);
}

TEST_CASE("weights that an update wrote are packed for the next evaluation") {
  auto make = [] {
    set_random_seed(7);
    PolicyScope scope("bfloat16");
    Sequential model({Input({28, 28}, {.dtype = uint8}), layers::Rescaling(1.0 / 255), layers::Flatten(),
                      layers::Dense(64), layers::Dense(10)});
    model.compile(
        {.optimizer = optimizers::SGD(1e-2), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  };
  Sequential model = make(), fresh = make();
  auto predicted = [](Sequential &of) {
    return of.predict(images(0, 16), {.verbose = 0}).astype(float32).to_vector<float>();
  };
  const std::vector<float> before = predicted(model);
  for (int step = 0; step < 3; ++step)
    model.train_on_batch(images(0, 32), labels(0, 32));
  fresh.set_weights(model.get_weights());
  CHECK(predicted(model) == predicted(fresh));
  CHECK(predicted(model) != before);
}
