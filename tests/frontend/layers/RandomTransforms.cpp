// RandomRotation, RandomZoom and RandomShear: draws, invariants, and rejected arguments.
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

/// Images (count, height, width, 2) in which the channels of each pixel are its column and its row.
Tensor places(int64_t count, int64_t height, int64_t width) {
  std::vector<float> data;
  for (int64_t i = 0; i < count * height * width; ++i) {
    data.push_back(static_cast<float>(i % width));
    data.push_back(static_cast<float>(i / width % height));
  }
  return Tensor(std::move(data), {count, height, width, 2});
}
/// One channel of each image at a pixel.
std::vector<double> channelAt(const Tensor &images, int64_t row, int64_t column, int64_t channel) {
  const Shape &shape = images.shape();
  const std::vector<double> all = numbers(images);
  std::vector<double> result;
  for (int64_t i = 0; i < shape[0]; ++i)
    result.push_back(all[static_cast<size_t>(((i * shape[1] + row) * shape[2] + column) * 2 + channel)]);
  return result;
}
std::pair<double, double> momentsOf(const std::vector<double> &x) {
  double sum = 0, squares = 0;
  for (const double each : x) {
    sum += each;
    squares += each * each;
  }
  const auto count = static_cast<double>(x.size());
  return {sum / count, squares / count - sum / count * (sum / count)};
}

} // namespace

TEST_CASE("RandomRotation draws an angle for each image, uniform within its factor") {
  const Tensor images = places(2000, 3, 65);
  const RandomRotation layer({-0.05, 0.2}, {.fill_mode = FillMode::constant, .seed = 3, .fill_value = -1});
  const std::vector<double> x = channelAt(layer(images, training), 1, 33, 0), y = channelAt(layer(images), 1, 33, 0);
  CHECK(std::ranges::all_of(y, [](double each) { return each == 33.0; }));
  // The pixel to the right of the middle is read from the position at this angle on a circle of radius 1.
  std::vector<double> angles;
  const RandomRotation same({-0.05, 0.2}, {.fill_mode = FillMode::constant, .seed = 3, .fill_value = -1});
  const Tensor turned = same(images, training);
  const std::vector<double> columns = channelAt(turned, 1, 33, 0), rows = channelAt(turned, 1, 33, 1);
  CHECK(columns == x);
  for (size_t i = 0; i < columns.size(); ++i)
    angles.push_back(std::atan2(rows[i] - 1.0, columns[i] - 32.0) / 6.283185307179586);
  const auto [mean, variance] = momentsOf(angles);
  CHECK(mean == Approx(0.075).margin(0.006));
  CHECK(variance == Approx(0.25 * 0.25 / 12).epsilon(0.08));
  CHECK(*std::ranges::min_element(angles) >= -0.0501);
  CHECK(*std::ranges::max_element(angles) <= 0.2001);
}

TEST_CASE("RandomZoom draws one factor for both axes unless there are two") {
  const Tensor images = places(500, 65, 65);
  const Tensor one = RandomZoom({-0.5, 0.25}, {.fill_mode = FillMode::constant, .seed = 5})(images, training);
  const std::vector<double> x = channelAt(one, 33, 33, 0), y = channelAt(one, 33, 33, 1);
  std::vector<double> differences;
  for (size_t i = 0; i < x.size(); ++i)
    differences.push_back(std::abs(x[i] - y[i]));
  CHECK(*std::ranges::max_element(differences) < 1e-4);
  const auto [mean, variance] = momentsOf(x);
  CHECK(mean - 32 == Approx(0.875).margin(0.04));
  CHECK(variance == Approx(0.75 * 0.75 / 12).epsilon(0.2));
  const Tensor both = RandomZoom(0.25, 0.0, {.seed = 5})(images, training);
  CHECK(momentsOf(channelAt(both, 33, 33, 0)).second < 1e-8);
  CHECK(momentsOf(channelAt(both, 33, 33, 1)).second > 0.01);
}

TEST_CASE("RandomShear shears half of the images one way, and the others the other way") {
  const Tensor images = places(400, 9, 9);
  const RandomShear layer({0.25, 0.25}, {0.5, 0.5}, {.fill_mode = FillMode::constant, .seed = 8});
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {images}, [&](const std::vector<Value> &v) {
      const auto sheared = [&](double sign) {
        const Value row =
            ops::reshape(ops::concatenate({ops::full({1}, 1.0), ops::full({1}, sign * 0.25), ops::full({1}, 0.0),
                                           ops::full({1}, sign * 0.5), ops::full({1}, 1.0), ops::full({3}, 0.0)}),
                         {8});
        return ops::image::affine_transform(v[0], row);
      };
      const Value y = layer(v[0], training);
      const auto isLike = [&](const Value &other) { return ops::max(ops::abs(y - other), {1, 2, 3}) < 1e-5; };
      return std::vector<Value>{ops::cast(isLike(sheared(1.0)), float32), ops::cast(isLike(sheared(-1.0)), float32)};
    });
    const auto [ahead, one] = momentsOf(numbers(results[0]));
    const auto [back, other] = momentsOf(numbers(results[1]));
    CHECK(ahead + back == Approx(1.0));
    CHECK(ahead == Approx(0.5).margin(0.1));
  }
}

TEST_CASE("Layers that transform images take single images, both data formats, integers and empty batches") {
  const Layer layers[] = {RandomRotation({0.25, 0.25}), RandomZoom({-0.5, -0.5}), RandomShear({0.5, 0.5})};
  for (const Layer &layer : layers) {
    INFO(layer.class_name());
    CHECK(layer(Tensor::zeros({0, 3, 4, 2}), training).shape() == Shape{0, 3, 4, 2});
    CHECK(layer(Tensor::ones({3, 4, 2}, uint8), training).dtype() == float32);
    CHECK(layer(Tensor::ones({3, 4, 2}, uint8)).dtype() == float32);
    CHECK(numbers(layer(Tensor::ones({1, 1, 1, 1}), training)) == std::vector<double>{1});
    CHECK_THROWS_WITH(layer(counted({2, 2})), Contains("Invalid images rank"));
  }
  const Tensor x = counted({2, 3, 4, 2});
  const Tensor last = RandomRotation({0.1, 0.1})(x, training);
  const Tensor first =
      RandomRotation({0.1, 0.1}, {.data_format = DataFormat::channels_first})(counted({2, 2, 3, 4}), training);
  CHECK(first.shape() == Shape{2, 2, 3, 4});
  CHECK(last.shape() == Shape{2, 3, 4, 2});
  CHECK(RandomZoom(0.5, {.dtype = "mixed_float16"})(x, training).dtype() == float16);
  const RandomShear narrow(0.5, 0.0,
                           {.interpolation = Interpolation::nearest,
                            .fill_mode = FillMode::constant,
                            .fill_value = 2.0,
                            .data_format = DataFormat::channels_first,
                            .seed = 1,
                            .activity_regularizer = {},
                            .trainable = false,
                            .dtype = "mixed_bfloat16",
                            .name = "narrow"});
  CHECK(narrow(x, training).dtype() == bfloat16);
  CHECK_FALSE(narrow.trainable());
  CHECK(narrow.name() == "narrow");
}

TEST_CASE("A RandomShear of one number is written as Keras reads it, and read as Keras writes it") {
  CHECK(RandomShear(0.25).get_config().get_double("x_factor") == 0.25);
  const Layer read = deserialize(Config::parse(
      R"({"class_name": "RandomShear", "config": {"name": "s", "x_factor": [-0.5, 0.5], "y_factor": [-0.0, 0.0]}})"));
  CHECK(read.get_config().get_double("x_factor") == 0.5);
  CHECK(read.get_config().get_double("y_factor") == 0.0);
}

TEST_CASE("Arguments of layers that transform images are refused as in Keras") {
  CHECK_THROWS_WITH(RandomRotation(1.5),
                    Contains("The `factor` argument should be a number (or a list of two numbers) in "
                             "the range [-1, 1]. Received: factor=1.5"));
  CHECK_THROWS_WITH(RandomRotation({1.5, 2.0}), Contains("factor=1.5, 2"));
  CHECK_THROWS_WITH(RandomRotation(NAN), Contains("factor=nan"));
  CHECK_THROWS_WITH(RandomRotation(Factor(std::vector<double>{})), Contains("factor="));
  CHECK_THROWS_WITH(RandomRotation(Factor(std::vector<double>{0.1, 0.2, 0.3})), Contains("factor=0.1, 0.2, 0.3"));
  CHECK_THROWS_WITH(RandomZoom(-1.0), Contains("in the range (-1.0, 1.0]. Received: height_factor=-1"));
  CHECK_THROWS_WITH(RandomZoom(0.5, {0.0, 1.5}), Contains("width_factor=0, 1.5"));
  CHECK_THROWS_WITH(RandomShear(-0.5), Contains("in the range [0.0, 1.0]. Received: x_factor=-0.5"));
  CHECK_THROWS_WITH(RandomShear(0.5, 2.0), Contains("y_factor=2"));
  CHECK_THROWS_WITH(RandomRotation(0.5, {.fill_mode = FillMode::mirror}), Contains("Unknown `fill_mode` mirror"));
  CHECK_THROWS_WITH(RandomZoom(0.5, {.interpolation = Interpolation::lanczos3}),
                    Contains("Unknown `interpolation` lanczos3"));
  CHECK(errorOf([] { (void)RandomShear(0.5, 0.5, {.fill_mode = "mirror"}); }).starts_with("NotImplementedError"));
}
