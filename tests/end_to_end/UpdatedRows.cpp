// Steps with a large table compared with the same steps with a small one: all rows are bit-identical, read or not.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Mlp.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::testing;
using Catch::Matchers::Contains;

namespace {

constexpr int64_t width = 16, few = 64, many = 1 << 16, samples = 6, length = 5;

/// Repeated indices below `few` - 1, so that a table of `few` rows has one row that is never read.
Tensor sentences(int step) {
  std::vector<int32_t> ids(samples * length);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>((i * i + 7 * size_t(step) + i / 3) % (few - 1) / (1 + i % 3));
  return Tensor(ids, {samples, length});
}

/// The last of the first `few` rows represents all others.
Tensor table(int64_t rows) {
  std::vector<float> values(size_t(rows * width));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = std::min<size_t>(i / width, few - 1), at = row * width + i % width;
    values[i] = static_cast<float>((at * 37) % 29) / 16 - 0.75f;
    if (row == few - 1 && i % width < 3)
      values[i] = i % width == 0 ? -0.0f : i % width == 1 ? std::numeric_limits<float>::infinity() : 1e-42f;
  }
  return Tensor(values, {rows, width});
}

struct Case {
  const char *name;
  std::function<Optimizer()> optimizer;
  bool measures = false; // sums of squares, whose order differs
};
const Case cases[] = {
    {"SGD", [] { return optimizers::SGD(0.5); }},
    {"SGD with a schedule", [] { return optimizers::SGD(schedules::ExponentialDecay(0.5, 2, 0.5)); }},
    {"clipvalue", [] { return optimizers::SGD(0.5, {.clipvalue = 0.01}); }},
    {"clipnorm", [] { return optimizers::SGD(0.5, {.clipnorm = 0.01}); }, true},
    {"global_clipnorm", [] { return optimizers::SGD(0.5, {.global_clipnorm = 0.01}); }, true},
    {"weight_decay", [] { return optimizers::SGD(0.5, {.weight_decay = 0.01}); }},
    {"use_ema", [] { return optimizers::SGD(0.5, {.use_ema = true, .ema_momentum = 0.5}); }},
    {"accumulation", [] { return optimizers::SGD(0.5, {.gradient_accumulation_steps = 2}); }},
    {"momentum", [] { return optimizers::SGD(0.5, {.momentum = 0.9}); }},
    {"a negative rate", [] { return optimizers::SGD(-0.5); }},
    {"Adagrad", [] { return optimizers::Adagrad(0.5); }},
    {"Adam", [] { return optimizers::Adam(0.5); }},
};

Sequential model(int64_t rows, const char *policy, const Case &which, Numerics numerics) {
  PolicyScope scope(policy);
  Sequential net({Input({length}, {.dtype = int32}), Embedding(rows, width, {.name = "words"}),
                  Lambda([](const Value &x) { return ops::mean(x, 1); }),
                  Dense(1, {.use_bias = false, .name = "head"})},
                 {.name = "net"});
  net.compile({.optimizer = which.optimizer(), .loss = "mse", .numerics = numerics});
  std::vector<float> kernel(width);
  for (size_t i = 0; i < kernel.size(); ++i)
    kernel[i] = static_cast<float>(i) / 16 - 0.3f;
  net.set_weights({table(rows), Tensor(kernel, {width, 1})});
  return net;
}

/// The weights after some steps, in the order of variables().
std::vector<std::vector<float>> trained(int64_t rows, const char *policy, const Case &which, Numerics numerics) {
  Sequential net = model(rows, policy, which, numerics);
  for (int step = 0; step < 4; ++step)
    net.train_on_batch(sentences(step), Tensor::ones({samples, 1}));
  return valuesOf(net.variables());
}

bool same(float a, float b, bool isRounded) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)) ||
         (isRounded && std::abs(a - b) <= 1e-5f * std::abs(a) + 1e-6f);
}

/// Compares four steps. Rows that are not read are bit-identical in any numerics.
void compare(const char *policy, const Case &which, Numerics numerics) {
  INFO(policy << " " << which.name);
  const auto small = trained(few, policy, which, numerics), large = trained(many, policy, which, numerics);
  const bool isRounded = numerics == Numerics::fast || which.measures;
  size_t wrong = 0;
  for (size_t i = 0; i < size_t(many * width); ++i) {
    const size_t row = std::min<size_t>(i / width, few - 1);
    wrong += !same(small[0][row * width + i % width], large[0][i], isRounded && row < few - 1);
  }
  CHECK(wrong == 0);
  for (size_t i = 0; i < small[1].size(); ++i)
    CHECK(same(small[1][i], large[1][i], isRounded));
}

} // namespace

// policies 11.8
TEST_CASE("A step updates a large table as it does a small one, in strict numerics to the bit") {
  for (const char *policy : {"float32", "mixed_float16"})
    for (const Case &which : cases)
      compare(policy, which, Numerics::strict);
  for (const char *policy : {"mixed_bfloat16", "bfloat16", "float64"})
    for (const Case &which : {cases[0], cases[4]})
      compare(policy, which, Numerics::strict);
}

// policies 11.8
TEST_CASE("A step in fast numerics keeps the rows of a large table that it keeps in a small one") {
  for (const Case &which : cases)
    compare("float32", which, Numerics::fast);
  for (const char *policy : {"mixed_float16", "mixed_bfloat16"})
    compare(policy, cases[0], Numerics::fast);
}

TEST_CASE("A step needs little memory beside a large table") {
  const int64_t bytes = many * width * 4;
  const std::set<std::string> light{"SGD", "global_clipnorm", "weight_decay", "momentum", "Adagrad", "Adam"};
  const auto arena = [](const char *policy, const Case &which) {
    const std::string plan = model(many, policy, which, Numerics::fast).ir(Stage::plan, {.batch_size = samples});
    const size_t at = plan.find("arena ");
    REQUIRE(at != std::string::npos);
    return std::stoll(plan.substr(at + 6));
  };
  for (const Case &which : cases)
    if (light.contains(which.name)) {
      INFO(which.name);
      CHECK(arena("float32", which) < bytes / 8);
    }
  CHECK(arena("mixed_float16", cases[0]) < bytes / 8);
}
