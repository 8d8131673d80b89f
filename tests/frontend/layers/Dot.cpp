// Dot: axes, norms, shapes, rejected inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Dot sums products over one axis of each input") {
  const Tensor a({1, 2, 3, 4}, {2, 2}), b({5, 6, 7, 8}, {2, 2});
  CHECK(numbers(Dot(1)({a, b})) == std::vector<double>{17, 53});
  CHECK(Dot(-1)({a, b}).shape() == Shape{2, 1});
  const Tensor x({1, 2, 3, 4, 5, 6}, {1, 3, 2}), y({1, 10, 100, 2, 20, 200}, {1, 2, 3});
  const Tensor product = Dot({2, 1})({x, y});
  CHECK(product.shape() == Shape{1, 3, 3});
  CHECK(numbers(product) == std::vector<double>{5, 50, 500, 11, 110, 1100, 17, 170, 1700});
  CHECK(numbers(Dot({1, 2})({x, y})) == std::vector<double>{531, 1062, 642, 1284});
  CHECK(numbers(Dot({-1, 1})({x, Tensor({1, -1}, {1, 2})})) == std::vector<double>{-1, -1, -1});
  CHECK(Dot({3, 1})({Tensor::ones({2, 3, 4, 5}), Tensor::ones({2, 5, 6, 7})}).shape() == Shape{2, 3, 4, 6, 7});
  CHECK(numbers(Dot(1)({Tensor::ones({1, 0}), Tensor::ones({1, 0})})) == std::vector<double>{0});
}

TEST_CASE("Dot with normalize gives cosines, and 0 for a vector of zeros") {
  const Tensor a({3, 4, 0, 0}, {2, 2}), b({4, 3, 1, 2}, {2, 2});
  CHECK(near(numbers(Dot(1, {.normalize = true})({a, b})), {0.96, 0}, 1e-6));
  CHECK(Dot({1, 1}, {.dtype = "mixed_bfloat16"})({a, b}).dtype() == bfloat16);
}

TEST_CASE("Dot refuses the batch's axis, unequal extents, and inputs that it cannot multiply") {
  const Tensor a = Tensor::ones({2, 3}), b = Tensor::ones({2, 4});
  CHECK_THAT(errorOf([] { Dot({}); }), Contains("ValueError: Invalid format for argument `axes`"));
  CHECK_THAT(errorOf([] { Dot({1, 2, 3}); }), Contains("axes=[1, 2, 3]"));
  CHECK_THAT(errorOf([&] { (void)Dot(0)({a, a}); }), Contains("ValueError: Cannot perform batch_dot over axis 0"));
  CHECK_THAT(errorOf([&] { (void)Dot(1)({a, b}); }),
             Contains("Incompatible input shapes: axis values 3 (at axis 1) != 4 (at axis 1)"));
  CHECK_THAT(errorOf([&] { (void)Dot(1)({a, a, a}); }), Contains("on a list of 2 inputs. Received: 3 inputs"));
  CHECK_THAT(errorOf([&] { (void)Dot(1)({a, Tensor::ones({3, 3})}); }), Contains("different batch sizes"));
  CHECK_THAT(errorOf([&] { (void)Dot(1)({a, Tensor::ones({2})}); }), Contains("rank < 2"));
  CHECK_THAT(errorOf([&] { (void)Dot(2)({a, a}); }), Contains("Dot"));
}

TEST_CASE("Dot takes a graph whose extents are not all known") {
  const Value tokens = Input({none, 4}), query = Input({4});
  CHECK(Dot({2, 1})(Values{tokens, query}).shape() == Shape{none, none});
}
