// RandomFlip and RandomTranslation: the possible results for each image, seeds, and rejected arguments.
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

const CallArgs training{.training = true};

/// Many equal images (2, 2, 1) with the pixels 0 1 / 2 3.
Tensor equalImages(int64_t count) {
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i)
    data.insert(data.end(), {0, 1, 2, 3});
  return Tensor(std::move(data), {count, 2, 2, 1});
}
/// The distinct images, and the fraction of unchanged ones.
std::pair<std::set<std::vector<double>>, double> kindsOf(const Tensor &images) {
  std::set<std::vector<double>> kinds;
  double same = 0;
  const std::vector<double> all = numbers(images);
  for (size_t i = 0; i < all.size(); i += 4) {
    kinds.emplace(all.begin() + static_cast<ptrdiff_t>(i), all.begin() + static_cast<ptrdiff_t>(i) + 4);
    same += all[i] == 0 && all[i + 1] == 1 ? 1 : 0;
  }
  return {kinds, same / (static_cast<double>(all.size()) / 4)};
}

} // namespace

TEST_CASE("RandomFlip flips about every second image, in the directions of its mode") {
  const struct {
    FlipMode mode;
    std::vector<double> flipped;
  } rows[] = {{FlipMode::horizontal, {1, 0, 3, 2}},
              {FlipMode::vertical, {2, 3, 0, 1}},
              {FlipMode::horizontal_and_vertical, {3, 2, 1, 0}}};
  for (const auto &row : rows) {
    const auto [kinds, same] = kindsOf(RandomFlip(row.mode, {.seed = 7})(equalImages(400), training));
    CHECK(kinds == std::set<std::vector<double>>{{0, 1, 2, 3}, row.flipped});
    CHECK(same > 0.4);
    CHECK(same < 0.6);
  }
}

TEST_CASE("A random layer repeats its images for a seed, moves on at each call, and rests outside of training") {
  const Tensor images = equalImages(64);
  const RandomFlip one(FlipMode::vertical, {.seed = 3}), other(FlipMode::vertical, {.seed = 3});
  const std::vector<double> first = numbers(one(images, training));
  CHECK(first == numbers(other(images, training)));
  CHECK(first != numbers(one(images, training)));
  CHECK(numbers(one(images)) == numbers(images));
  CHECK(RandomFlip()(Tensor::ones({2, 2, 2, 1}, uint8)).dtype() == float32);
  CHECK(RandomFlip()(Tensor::ones({0, 2, 2, 1}), training).shape() == Shape{0, 2, 2, 1});
  const std::vector<double> single = numbers(RandomFlip(FlipMode::vertical, {.seed = 3})(counted({2, 2, 1}), training));
  CHECK((single == std::vector<double>{0, 1, 2, 3} || single == std::vector<double>{2, 3, 0, 1}));
}

TEST_CASE("RandomTranslation draws one move for each image, within its factors") {
  // 0 1 2 ... moved to the right by d begins with -d if the values continue outside.
  const int64_t count = 300, width = 64;
  std::vector<float> data;
  for (int64_t i = 0; i < count * width; ++i)
    data.push_back(static_cast<float>(i % width));
  const Tensor images(std::move(data), {count, 1, width, 1});
  const RandomTranslation layer(0.0, {-0.25, 0.5}, {.fill_mode = FillMode::constant, .seed = 9, .fill_value = -1});
  const std::vector<double> y = numbers(layer(images, training));
  std::set<double> moves;
  for (int64_t i = 0; i < count; ++i)
    moves.insert(static_cast<double>(width) / 2 - y[static_cast<size_t>(i * width + width / 2)]);
  CHECK(moves.size() > 250);
  CHECK(*moves.begin() >= -16);
  CHECK(*moves.begin() < -12);
  CHECK(*moves.rbegin() <= 32);
  CHECK(*moves.rbegin() > 28);
  CHECK(numbers(layer(images)) == numbers(images));
}

TEST_CASE("The gradient of a moved image moves back") {
  const RandomTranslation layer({0.5, 0.5}, 0.0, {.fill_mode = FillMode::constant});
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {counted({1, 4, 1, 1})}, [&](const std::vector<Value> &v) {
      const Value y = layer(v[0], training);
      return std::vector{y, gradients(ops::sum(y * y), std::vector{v[0]})[0]};
    });
    CHECK(numbers(results[0]) == std::vector<double>{0, 0, 0, 1});
    CHECK(numbers(results[1]) == std::vector<double>{0, 2, 0, 0});
  }
}

TEST_CASE("Factors and interpolations that cannot be are refused") {
  CHECK_THROWS_WITH(RandomTranslation(1.5, 0.0),
                    Contains("The `height_factor` argument should be a number (or a list of "
                             "two numbers) in the range [-1.0, 1.0]. Received: "
                             "height_factor=1.5"));
  CHECK_THROWS_WITH(RandomTranslation(0.5, {0.0, -2.0}), Contains("width_factor=0, -2"));
  CHECK_THROWS_WITH(RandomTranslation(NAN, 0.0), Contains("height_factor=nan"));
  CHECK_THROWS_WITH(RandomTranslation(0.5, 0.5, {.interpolation = Interpolation::bicubic}),
                    Contains("Unknown `interpolation` bicubic"));
  CHECK_THROWS_WITH(RandomFlip()(counted({2, 2})), Contains("Invalid images rank"));
}
