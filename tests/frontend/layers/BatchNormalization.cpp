// BatchNormalization: batch and moving statistics, freezing, dtypes, and non-finite steps.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

static const Tensor &batch() { // columns with means 2 and 10, variances 1 and 4
  static const Tensor x({1, 8, 3, 12}, {2, 2});
  return x;
}

TEST_CASE("BatchNormalization uses the batch's statistics in training and the moving ones otherwise") {
  BatchNormalization layer({.momentum = 0.75, .epsilon = 0.0});
  Tensor y = layer(batch(), {.training = true});
  CHECK(near(numbers(y), {-1, -1, 1, 1}));
  REQUIRE(layer.variables().size() == 4);
  std::vector<std::string> names;
  for (const Variable &variable : layer.variables())
    names.push_back(variable.name());
  CHECK(names == std::vector<std::string>{"gamma", "beta", "moving_mean", "moving_variance"});
  CHECK(layer.trainable_variables().size() == 2);
  CHECK(near(numbers(layer.variables()[2]), {0.5, 2.5}));
  CHECK(near(numbers(layer.variables()[3]), {0.75 + 0.25, 0.75 + 1.0})); // the biased variance
  (void)layer(batch(), {.training = true});
  CHECK(near(numbers(layer.variables()[2]), {0.875, 4.375}));
  std::vector<Tensor> before = layer.get_weights();
  CHECK(near(numbers(layer(batch())),
             {0.125 / std::sqrt(1.0), 3.625 / std::sqrt(2.3125), 2.125, 7.625 / std::sqrt(2.3125)}, 1e-5));
  for (size_t i = 0; i < before.size(); ++i)
    CHECK(numbers(before[i]) == numbers(layer.get_weights()[i]));
}

TEST_CASE("A frozen layer normalizes by its moving statistics in training too") {
  BatchNormalization layer({.epsilon = 0.0, .trainable = false});
  CHECK(near(numbers(layer(batch(), {.training = true})), {1, 8, 3, 12}));
  CHECK(numbers(layer.variables()[2]) == std::vector<double>{0, 0});
  CHECK(layer.trainable_variables().empty());
}

TEST_CASE("BatchNormalization takes any axis of the input and refuses others") {
  BatchNormalization layer({.axis = 1, .epsilon = 0.0, .center = false, .scale = false});
  CHECK(near(numbers(layer(Tensor({1, 3, 8, 12}, {1, 2, 2}), {.training = true})), {-1, 1, -1, 1}));
  CHECK(layer.variables().size() == 2);
  CHECK_THAT(errorOf([] { (void)BatchNormalization({.axis = 4})(batch()); }), Contains("axis 4 is out of range"));
}

// policies 11.5, 11.7
TEST_CASE("Under a mixed policy inputs are rounded, statistics and weights are not") {
  BatchNormalization layer({.dtype = "mixed_float16"});
  Tensor y = layer(Tensor({1.0001f, 70000.0f, 3.0f, 1.0f}, {2, 2}), {.training = true});
  CHECK(y.dtype() == float16);
  for (const Variable &variable : layer.variables())
    CHECK(variable.dtype() == float32);
  CHECK(near({numbers(layer.variables()[2])[0]}, {0.02})); // the mean of 1 and 3; 1.0001 was rounded
  // 70000 is inf in float16: the statistics of this channel are unchanged.
  CHECK(numbers(layer.variables()[2])[1] == 0);
  CHECK(numbers(layer.variables()[3])[1] == 1);
  CHECK_FALSE(std::isfinite(numbers(y)[1]));
  Sequential model({Input({2}), layer}, {.name = "net"});
  std::string text = model.ir(Stage::cast, {.program = Program::predict, .batch_size = 2});
  CHECK_THAT(text, Contains("origin = \"layer input\"") && Contains("origin = \"normalization\"") &&
                       !Contains("origin = \"variable read\""));
}

TEST_CASE("BatchNormalization trains: gradients reach earlier layers, statistics move, and evaluation uses them") {
  for (const char *policy : {"float32", "mixed_float16", "mixed_bfloat16"}) {
    INFO(policy);
    PolicyScope scope(policy);
    set_random_seed(3);
    Sequential model(
        {Input({4}), Dense(8), BatchNormalization({.momentum = 0.5}), ReLU(), Dense(1, {.dtype = float32})});
    model.compile({.optimizer = optimizers::Adam(0.02), .loss = "mse"});
    std::vector<float> x, y;
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 4; ++j)
        x.push_back(static_cast<float>(((i + 1) * (j + 3)) % 11) * 0.2f);
      y.push_back(x[x.size() - 1] - x[x.size() - 4]);
    }
    Tensor inputs(std::move(x), {64, 4}), targets(std::move(y), {64, 1});
    std::vector<Tensor> before = model.get_weights();
    History history = model.fit(inputs, targets, {.batch_size = 16, .epochs = 30, .verbose = 0});
    CHECK(history["loss"].back() < 0.2 * history["loss"].front());
    std::vector<Tensor> after = model.get_weights();
    REQUIRE(after.size() == 8); // kernel, bias, gamma, beta, mean, variance, kernel, bias
    for (size_t i : {0, 2, 3, 4, 5, 6})
      CHECK(numbers(before[i]) != numbers(after[i]));
    CHECK(model.evaluate(inputs, targets, {.verbose = 0})["loss"] < 0.3 * history["loss"].front());
  }
}

TEST_CASE("A step that is not finite changes no statistic") {
  PolicyScope scope("mixed_float16");
  Sequential model({Input({2}), BatchNormalization(), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.train_on_batch(batch(), Tensor({0, 1}, {2, 1}));
  std::vector<Tensor> before = model.get_weights();
  model.train_on_batch(Tensor({1, std::numeric_limits<float>::infinity(), 3, std::nanf("")}, {2, 2}),
                       Tensor({0, 1}, {2, 1}));
  std::vector<Tensor> after = model.get_weights();
  for (size_t i = 0; i < before.size(); ++i)
    if (i == 2 || i == 3) // the statistics of the finite channel change
      CHECK(numbers(before[i])[1] == numbers(after[i])[1]);
    else
      CHECK(numbers(before[i]) == numbers(after[i]));
}

/// The largest distance between `slope` at x and central differences of `f`, relative to the larger of 1 and the
/// derivative.
static double slopeError(const Tensor &x, const std::function<Value(const Value &)> &f,
                         const std::function<Value(const Value &)> &slope) {
  const auto at = jit(f), of = jit(slope);
  const std::vector<double> found = numbers(of(x)), point = numbers(x);
  double worst = 0;
  for (size_t i = 0; i < point.size(); ++i) {
    const auto moved = [&](double distance) {
      std::vector<double> near = point;
      near[i] += distance;
      return at(Tensor(near, x.shape())).item<double>();
    };
    constexpr double h = 1e-5;
    const double difference = (moved(h) - moved(-h)) / (2 * h);
    const double error = std::abs(found[i] - difference) / std::max(1.0, std::abs(difference));
    worst = error <= worst ? worst : error; // NaN counts as an error
  }
  return worst;
}

TEST_CASE("Gradients of BatchNormalization, and gradients of those, are the slopes of its results") {
  const Tensor x(std::vector<double>{1, 8, 3, 12, -2, 0.5, 7, 1, 0.25, -3, 2, 5}, {2, 3, 2});
  for (const bool affine : {true, false})
    for (const int64_t axis : {-1, 1}) {
      BatchNormalization layer({.axis = axis, .center = affine, .scale = affine, .dtype = "float64"});
      (void)layer(x);
      if (affine) {
        const std::vector<double> scale = {0.5, -2, 3}, offset = {1, 2, -1};
        const int64_t count = x.shape()[axis];
        layer.variables()[0].assign(Tensor(std::vector(scale.begin(), scale.begin() + count), {count}));
        layer.variables()[1].assign(Tensor(std::vector(offset.begin(), offset.begin() + count), {count}));
      }
      const auto total = [&](const Value &v) {
        const Value y = layer(v, {.training = true});
        return ops::sum(ops::square(y) * y + y);
      };
      const auto slope = [&](const Value &v) { return gradients(total(v), {v})[0]; };
      const auto steepness = [&](const Value &v) { return ops::sum(ops::square(slope(v))); };
      CHECK(slopeError(x, total, slope) < 1e-6);
      CHECK(slopeError(x, steepness, [&](const Value &v) { return gradients(steepness(v), {v})[0]; }) < 1e-5);
    }
}
