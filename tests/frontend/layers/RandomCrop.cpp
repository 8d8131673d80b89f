// RandomCrop: random positions, images that are too small, and the extents known to a functional model.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <set>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
const CallArgs training{.training = true};
}

TEST_CASE("RandomCrop takes each place equally often") {
  const RandomCrop layer(2, 3, {.seed = 5});
  const Tensor x = counted({1, 4, 5, 1});
  std::map<double, int> begins;
  for (int i = 0; i < 450; ++i) {
    const std::vector<double> y = numbers(layer(x, training));
    REQUIRE(y.size() == 6);
    CHECK(y[1] == y[0] + 1);
    CHECK(y[3] == y[0] + 5);
    ++begins[y[0]];
  }
  REQUIRE(begins.size() == 9);
  for (const auto &[place, count] : begins)
    CHECK(std::abs(count - 50) < 30);
  CHECK(numbers(layer(x)) == numbers(x));
}

TEST_CASE("A functional model knows RandomCrop by its extents in training") {
  const Input x({6, 5, 2}, {.dtype = uint8});
  const Value y = RandomCrop(3, 2)(x);
  CHECK(y.shape() == Shape{-1, 3, 2, 2});
  CHECK(y.dtype() == float32);
  const Model model({x}, {GlobalAveragePooling2D()(y)});
  CHECK(model.predict(Tensor::ones({2, 6, 5, 2}, uint8), {.verbose = 0}).shape() == Shape{2, 2});
}

TEST_CASE("RandomCrop refuses extents that are not positive, and takes single images") {
  CHECK_THROWS_WITH(RandomCrop(0, 2), Contains("Argument `height` should be a positive integer"));
  CHECK_THROWS_WITH(RandomCrop(2, -1), Contains("Argument `width`"));
  CHECK(RandomCrop(2, 2)(counted({5, 4, 3}), training).shape() == Shape{2, 2, 3});
  CHECK(RandomCrop(2, 2, {.data_format = DataFormat::channels_first})(counted({3, 5, 4}), training).shape() ==
        Shape{3, 2, 2});
  CHECK(RandomCrop(2, 3, {.dtype = "float16"})(counted({1, 2, 3, 1}), training).dtype() == float16);
  CHECK(RandomCrop(2, 2)(Tensor::zeros({0, 4, 4, 1}), training).shape() == Shape{0, 2, 2, 1});
}
