// MixUp and CutMix: pixels and labels are mixed in the same proportions, as drawn.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

const CallArgs training{.training = true};
constexpr int64_t count = 256;

/// Images of a single number each, with the same number as label.
std::pair<Tensor, Tensor> marked(const Shape &image) {
  const int64_t pixels = image.elements();
  std::vector<float> x, y;
  for (int64_t i = 0; i < count; ++i) {
    x.insert(x.end(), static_cast<size_t>(pixels), static_cast<float>(i));
    y.push_back(static_cast<float>(i));
  }
  return {Tensor(std::move(x), {count, image[0], image[1], image[2]}), Tensor(std::move(y), {count, 1})};
}

} // namespace

TEST_CASE("MixUp mixes images and labels by a weight of the beta distribution") {
  const auto [x, y] = marked({2, 3, 1});
  const MixUp layer(0.4, {.seed = 4});
  const auto [images, labels] = layer(x, y, training);
  const std::vector<double> pixels = numbers(images), mixed = numbers(labels);
  for (size_t i = 0; i < mixed.size(); ++i)
    for (size_t j = 0; j < 6; ++j)
      CHECK(pixels[i * 6 + j] == Approx(mixed[i]).margin(1e-4));
  double sum = 0;
  for (const double each : mixed)
    sum += each;
  CHECK(sum / count == Approx((count - 1) / 2.0).margin(12));
  CHECK(std::set<double>(mixed.begin(), mixed.end()).size() > count / 2);
  const auto [plainImages, plainLabels] = layer(x, y);
  CHECK(numbers(plainImages) == numbers(x));
  CHECK(numbers(plainLabels) == numbers(y));
  CHECK(numbers(MixUp(0.4, {.seed = 4})(x, training)) == pixels);
}

TEST_CASE("The weights of MixUp have the moments of the beta distribution") {
  // Half of the images are 0 and the others are 1; a pair of different images shows the weight.
  std::vector<float> data;
  for (int64_t i = 0; i < 4000; ++i)
    data.push_back(static_cast<float>(i % 2));
  const double alpha = 2.0;
  const std::vector<double> y = numbers(MixUp(alpha, {.seed = 11})(Tensor(data, {4000, 1, 1, 1}), training));
  double squares = 0, mixed = 0;
  for (const double each : y)
    if (each > 0.0 && each < 1.0) {
      squares += (each - 0.5) * (each - 0.5);
      ++mixed;
    }
  CHECK(mixed == Approx(2000).margin(150));
  CHECK(squares / mixed == Approx(1.0 / (4 * (2 * alpha + 1))).epsilon(0.1));
}

TEST_CASE("CutMix puts a box of another image into each image, and mixes labels by its share") {
  for (const auto format : {DataFormat::channels_last, DataFormat::channels_first}) {
    const bool isLast = format == DataFormat::channels_last;
    const auto [x, y] = marked(isLast ? Shape{8, 10, 2} : Shape{2, 8, 10});
    const auto [images, labels] = CutMix(1.0, {.seed = 6, .data_format = format})(x, y, training);
    const std::vector<double> pixels = numbers(images), mixed = numbers(labels);
    double error = 0;
    for (size_t i = 0; i < mixed.size(); ++i) {
      const std::vector<double> own(pixels.begin() + static_cast<ptrdiff_t>(i * 160),
                                    pixels.begin() + static_cast<ptrdiff_t>((i + 1) * 160));
      const std::set<double> kinds(own.begin(), own.end());
      REQUIRE(kinds.size() <= 2);
      double mean = 0;
      for (const double each : own)
        mean += each / 160;
      if (kinds.size() == 2) // the box covers whole pixels, and its fraction is not rounded
        error += std::abs(mean - mixed[i]) / (*kinds.rbegin() - *kinds.begin()) / count;
    }
    CHECK(error < 0.1);
  }
}

TEST_CASE("Layers that mix take integers, narrow floats, single images and empty batches") {
  const Layer layers[] = {MixUp(), CutMix(0.5)};
  for (const Layer &layer : layers) {
    INFO(layer.class_name());
    CHECK(layer(Tensor::ones({2, 3, 3, 1}, uint8), training).dtype() == float32);
    CHECK(layer(Tensor::ones({0, 3, 3, 1}), training).shape() == Shape{0, 3, 3, 1});
    CHECK(numbers(layer(counted({3, 3, 1}), training)) == numbers(counted({3, 3, 1})));
    CHECK_THROWS_WITH(layer(counted({3, 3}), training), Contains("Invalid images rank"));
  }
  CHECK(CutMix({0.25, 0.75}, {.dtype = "mixed_float16"})(counted({2, 3, 3, 1}), training).dtype() == float16);
  const auto [images, labels] = MixUp(0.2, {.data_format = DataFormat::channels_first, .dtype = "mixed_bfloat16"})(
      counted({2, 1, 3, 3}), Tensor({1, 0, 0, 1}, {2, 2}), training);
  CHECK(images.dtype() == bfloat16);
  CHECK(labels.dtype() == float32);
  CHECK_THROWS_WITH(MixUp()(counted({2, 3, 3, 1}), counted({3, 1}), training),
                    Contains("expected a row of labels for each image"));
}

TEST_CASE("A functional model that mixes images and labels has Keras's call, and is read again") {
  const Input images({2, 2, 1}), labels({3});
  const auto [x, y] = MixUp(0.3, {.name = "mix"})(images, labels);
  const Model model({images, labels}, {x, y});
  const std::string text = model.to_json();
  Model again = Model::from_config(Config::parse(text));
  CHECK(again.to_json() == text);
  const Json layer = Json::parse(text)["config"]["layers"].back();
  CHECK(layer["class_name"] == "MixUp");
  const Json data = layer["inbound_nodes"][0]["args"][0];
  CHECK(data["images"]["class_name"] == "__keras_tensor__");
  CHECK(data["labels"]["class_name"] == "__keras_tensor__");
  const Tensors found = again.predict_all({counted({4, 2, 2, 1}), counted({4, 3})}, {.verbose = 0});
  CHECK(numbers(found[1]) == numbers(counted({4, 3})));
}

TEST_CASE("Arguments of layers that mix are refused") {
  CHECK_THROWS_WITH(MixUp(0.0), Contains("Argument `alpha` should be a number above 0. Received: alpha=0"));
  CHECK_THROWS_WITH(MixUp(NAN), Contains("alpha=nan"));
  CHECK_THROWS_WITH(CutMix(1.5), Contains("factor=1.5"));
  CHECK_THROWS_WITH(CutMix({-0.5, 0.5}), Contains("factor=-0.5, 0.5"));
  CHECK_THROWS_WITH(MixUp(0.2, {.dtype = "int32"})(counted({2, 3, 3, 1}), training), Contains("computes in floats"));
}
