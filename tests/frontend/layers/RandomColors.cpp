// RandomContrast and RandomBrightness: Keras's arithmetic, the value range, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
const CallArgs training{.training = true};
}

TEST_CASE("RandomContrast multiplies the distance from the mean of each channel") {
  const Tensor x({0.0f, 10.0f, 2.0f, 30.0f}, {1, 1, 2, 2});
  const RandomContrast layer({-0.5, 0.5}, {.value_range = {0.0, 35.0}});
  CHECK(near(numbers(layer(x, training)), {0.0, 5.0, 2.5, 35.0}));
  CHECK(numbers(layer(x)) == numbers(x));
  const RandomContrast drawn(0.5, {.value_range = {-1000, 1000}, .seed = 2});
  std::vector<float> pairs;
  for (int i = 0; i < 2000; ++i)
    pairs.insert(pairs.end(), {0.0f, 2.0f});
  const std::vector<double> y = numbers(drawn(Tensor(pairs, {2000, 1, 2, 1}), training));
  double mean = 0, least = 9, most = 0;
  for (size_t i = 1; i < y.size(); i += 2) {
    mean += (y[i] - 1.0) / 2000;
    least = std::min(least, y[i] - 1.0);
    most = std::max(most, y[i] - 1.0);
  }
  CHECK(mean == Approx(1.25).margin(0.02));
  CHECK(least >= 1.0 - 1e-6);
  CHECK(most <= 1.5 + 1e-6);
}

TEST_CASE("RandomBrightness adds a part of the range to each image") {
  const Tensor x({0.0f, 0.5f, 0.9f, 1.0f}, {1, 2, 2, 1});
  CHECK(near(numbers(RandomBrightness({0.25, 0.25}, {.value_range = {1, 0}})(x, training)), {0.25, 0.75, 1.0, 1.0}));
  CHECK(near(numbers(RandomBrightness({-0.25, -0.25}, {.value_range = {0, 1}})(x, training)), {0.0, 0.25, 0.65, 0.75}));
  const std::vector<double> y =
      numbers(RandomBrightness(0.5, {.seed = 3})(Tensor::full({3000, 1, 1, 1}, 127.5), training));
  double mean = 0, squares = 0;
  for (const double each : y) {
    mean += (each - 127.5) / 255 / 3000;
    squares += (each - 127.5) / 255 * (each - 127.5) / 255 / 3000;
  }
  CHECK(mean == Approx(0.0).margin(0.02));
  CHECK(squares == Approx(1.0 / 12).epsilon(0.06));
}

TEST_CASE("Layers that change colours keep the shape of their input, and give the compute dtype") {
  for (const Layer &layer : {Layer(RandomContrast(0.5)), Layer(RandomBrightness(0.5))}) {
    INFO(layer.class_name());
    CHECK(layer(Tensor::ones({2, 2, 3}, uint8), training).shape() == Shape{2, 2, 3});
    CHECK(layer(Tensor::ones({2, 2, 3}, uint8)).dtype() == float32);
    CHECK(layer(Tensor::ones({2, 0, 2, 3}), training).shape() == Shape{2, 0, 2, 3});
    CHECK_THROWS_WITH(layer(counted({2, 2})), Contains("Invalid images rank"));
  }
  const RandomContrast narrow(0.5, {.data_format = DataFormat::channels_first, .dtype = "mixed_float16"});
  CHECK(narrow(counted({2, 3, 2, 2}), training).dtype() == float16);
}

TEST_CASE("Arguments of layers that change colours are refused as in Keras") {
  CHECK_THROWS_WITH(RandomContrast(-0.5), Contains("in the range [0, 1]. Received: factor=-0.5"));
  CHECK_THROWS_WITH(RandomContrast({0.5, -0.1}), Contains("factor=0.5, -0.1"));
  CHECK_THROWS_WITH(RandomBrightness(1.5), Contains("in the range [-1, 1]. Received: factor=1.5"));
  CHECK_THROWS_WITH(RandomBrightness(0.5, {.value_range = {1}}), Contains("value_range=(1)"));
  CHECK_THROWS_WITH(RandomContrast(0.5, {.value_range = {0, NAN}}), Contains("should be a list of two numbers"));
  CHECK_THROWS_WITH(RandomContrast(0.5, {.dtype = "int32"})(counted({1, 2, 2, 1}), training),
                    Contains("computes in floats"));
}
