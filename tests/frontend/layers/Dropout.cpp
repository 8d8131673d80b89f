// Dropout: the fraction dropped, and masks of other shapes than the input.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
std::vector<double> dropped(const Shape &noiseShape, const Shape &input) {
  return numbers(Dropout(0.5, {.noise_shape = noiseShape, .seed = 5})(Tensor::ones(input), {.training = true}));
}
} // namespace

TEST_CASE("Where noise_shape is 1, the elements of the input stay or go together") {
  const int64_t samples = 200, steps = 6;
  const std::vector<double> y = dropped({none, 1, none}, {samples, steps, 3});
  int64_t kept = 0;
  for (int64_t sample = 0; sample < samples; ++sample)
    for (int64_t channel = 0; channel < 3; ++channel) {
      std::set<double> along;
      for (int64_t step = 0; step < steps; ++step)
        along.insert(y[static_cast<size_t>((sample * steps + step) * 3 + channel)]);
      REQUIRE(along.size() == 1);
      CHECK((*along.begin() == 0.0 || *along.begin() == 2.0));
      kept += *along.begin() == 2.0;
    }
  CHECK(kept > 250); // of 600 elements, half
  CHECK(kept < 350);
}

TEST_CASE("A noise_shape of lower rank broadcasts from the right, one of the input's shape is the default's mask") {
  const std::vector<double> rows = dropped({64}, {3, 64});
  CHECK(std::vector(rows.begin(), rows.begin() + 64) == std::vector(rows.begin() + 64, rows.begin() + 128));
  CHECK(std::set(rows.begin(), rows.end()) == std::set{0.0, 2.0});
  CHECK(dropped({none, none}, {8, 16}) ==
        numbers(Dropout(0.5, {.seed = 5})(Tensor::ones({8, 16}), {.training = true})));
  CHECK(dropped({8, 16}, {8, 16}) == dropped({none, none}, {8, 16}));
  CHECK(dropped({1, 1}, {0, 3}).empty());
}

TEST_CASE("A noise_shape acts in training alone, and its gradient is the mask's") {
  const Dropout layer(0.5, {.noise_shape = Shape{none, 1}, .seed = 5});
  CHECK(numbers(layer(Tensor::ones({4, 3}))) == std::vector<double>(12, 1.0));
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {Tensor::ones({32, 3})}, [&](const std::vector<Value> &v) {
      const Value y = layer(v[0], {.training = true});
      return std::vector{y, gradients(ops::sum(y), std::vector{v[0]})[0]};
    });
    CHECK(numbers(results[0]) == numbers(results[1]));
  }
}

TEST_CASE("A noise_shape that cannot be is refused") {
  CHECK_THROWS_WITH(Dropout(0.5, {.noise_shape = Shape{2, 0}}),
                    Contains("Expected all dimensions to be positive integers or None. Received negative or zero value "
                             "at index 1: 0"));
  CHECK_THROWS_WITH(dropped({5, 3}, {4, 3}), Contains("ValueError"));
  CHECK_THROWS_WITH(dropped({2, none, 3}, {4, 3}), Contains("ValueError"));
}

TEST_CASE("SpatialDropout keeps or drops whole channels of each sample") {
  const Tensor ones = Tensor::ones({150, 2, 2, 3});
  const auto checkChannels = [](const std::vector<double> &y, size_t channels, size_t stride, size_t inner) {
    std::set<double> seen;
    const size_t sample = channels * inner * stride; // elements of a sample, if its channels come last
    for (size_t begin = 0; begin < y.size(); begin += sample)
      for (size_t channel = 0; channel < channels; ++channel) {
        std::set<double> along;
        for (size_t i = 0; i < inner * stride; ++i)
          along.insert(y[begin + (stride == 1 ? channel * inner + i : channel + i * channels)]);
        REQUIRE(along.size() == 1);
        seen.insert(*along.begin());
      }
    CHECK(seen == std::set{0.0, 2.0});
  };
  const CallArgs training{.training = true};
  checkChannels(numbers(SpatialDropout2D(0.5)(ones, training)), 3, 4, 1);
  checkChannels(numbers(SpatialDropout2D(0.5, {.data_format = DataFormat::channels_first})(ones, training)), 2, 1, 6);
  checkChannels(numbers(SpatialDropout1D(0.5)(Tensor::ones({150, 4, 3}), training)), 3, 4, 1);
  checkChannels(numbers(SpatialDropout3D(0.5)(Tensor::ones({150, 2, 1, 2, 3}), training)), 3, 4, 1);
  CHECK(numbers(SpatialDropout1D(0.5)(Tensor::ones({1, 2, 3}))) == std::vector<double>(6, 1.0));
  CHECK(numbers(SpatialDropout1D(1.0)(Tensor::ones({1, 2, 3}), training)) == std::vector<double>(6, 0.0));
  CHECK(SpatialDropout2D(0.5, {.dtype = "mixed_float16"})(ones, training).dtype() == float16);
  CHECK(SpatialDropout1D(0.0)(Tensor::ones({0, 2, 3}), training).shape() == Shape{0, 2, 3});
  CHECK_THROWS_WITH(SpatialDropout3D(1.5), Contains("Expected a float value between 0 and 1. Received: rate=1.5"));
  CHECK_THROWS_WITH(SpatialDropout2D(0.5)(Tensor::ones({1, 2, 3})), Contains("expected ndim=4, found ndim=3"));
}

TEST_CASE("AlphaDropout keeps mean and variance of standardized inputs, in training only") {
  const AlphaDropout layer(0.25, {.seed = 5});
  const Tensor x = GaussianNoise(1.0, {.seed = 6})(Tensor::zeros({200, 500}), {.training = true});
  CHECK(numbers(layer(x)) == numbers(x));
  const std::vector<double> y = numbers(layer(x, {.training = true})), given = numbers(x);
  double mean = 0, variance = 0, dropped = 0;
  // The scale and shift that Keras computes for this rate, and the resulting value of dropped elements.
  const double lowest = -1.7580993408473766, scale = 1.0 / std::sqrt(0.75 * (1 + 0.25 * lowest * lowest)),
               shift = -scale * lowest * 0.25, low = scale * lowest + shift;
  for (size_t i = 0; i < y.size(); ++i) {
    const bool isDropped = std::abs(y[i] - low) < 1e-6;
    CHECK((isDropped || std::abs(y[i] - (scale * given[i] + shift)) < 1e-5));
    mean += y[i] / 1e5;
    variance += y[i] * y[i] / 1e5;
    dropped += isDropped ? 1e-5 : 0;
  }
  CHECK(std::abs(mean) < 0.015);
  CHECK(std::abs(variance - 1) < 0.02);
  CHECK(std::abs(dropped - 0.25) < 0.01);
}

TEST_CASE("The seed of a layer that draws has 32 bits") {
  for (const int64_t seed : {int64_t{-1}, int64_t{1} << 32})
    CHECK_THAT(errorOf([seed] { (void)Dropout(0.5, {.seed = seed, .name = "drop"})(Tensor::ones({2})); }),
               Contains("ValueError: layer 'drop': a seed must be an integer from 0 to 4294967295"));
  CHECK(Dropout(0.5, {.seed = UINT32_MAX})(Tensor::ones({2})).shape() == Shape{2});
}

TEST_CASE("The elements that AlphaDropout drops follow noise_shape, and a rate of 1 is refused") {
  const std::vector<double> y =
      numbers(AlphaDropout(0.5, {.noise_shape = Shape{none, 1}, .seed = 5})(Tensor::ones({64, 3}), {.training = true}));
  std::set<double> seen;
  for (size_t row = 0; row < 64; ++row) {
    CHECK((y[3 * row] == y[3 * row + 1] && y[3 * row] == y[3 * row + 2]));
    seen.insert(y[3 * row]);
  }
  CHECK(seen.size() == 2);
  CHECK_THROWS_WITH(AlphaDropout(1.0), Contains("Invalid value received for argument `rate`"));
  CHECK_THROWS_WITH(AlphaDropout(0.5, {.noise_shape = Shape{0}}), Contains("noise_shape"));
}
