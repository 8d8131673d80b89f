// Elementwise merges: several inputs, broadcasting, masks, autocast.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Add and Multiply take any number of inputs") {
  Tensor a({1, 2, 3, 4}, {2, 2}), b({10, 20, 30, 40}, {2, 2}), row({5, 6}, {2, 1});
  CHECK(numbers(Add()({a, b, a})) == std::vector<double>{12, 24, 36, 48});
  CHECK(numbers(Multiply()({a, b})) == std::vector<double>{10, 40, 90, 160});
  CHECK(numbers(Add()({a, row})) == std::vector<double>{6, 7, 9, 10});
  CHECK(numbers(Add()(a)) == numbers(a));
  // Inputs of different ranks: the missing axes are inserted after the batch.
  CHECK(Multiply()({Tensor::ones({2, 3, 4}), Tensor::ones({2, 4})}).shape() == Shape{2, 3, 4});
  CHECK_THAT(errorOf([&] { (void)Add()({a, Tensor::ones({2, 3})}); }), Contains("(2, 2)") && Contains("(2, 3)"));
  CHECK_THAT(errorOf([&] { (void)Add()(Tensors()); }), Contains("at least 1 input"));
}

// policies 11.1
TEST_CASE("Add and Multiply autocast all inputs") {
  Tensor y = Add({.dtype = "mixed_float16"})({Tensor({1}, {1, 1}), Tensor({1.0f / 4096}, {1, 1})});
  CHECK(y.dtype() == float16);
  CHECK(numbers(y) == std::vector<double>{1});
}

TEST_CASE("Subtract, Average, Maximum and Minimum compute what their names say") {
  const Tensor a({1, 2, 3, 4}, {2, 2}), b({4, 0.5, 3, -1}, {2, 2}), c({0, 8, 1, 3}, {2, 2});
  CHECK(numbers(Subtract()({a, b})) == std::vector<double>{-3, 1.5, 0, 5});
  CHECK(numbers(Average()({a, b, c, c})) == std::vector<double>{1.25, 4.625, 2, 2.25});
  CHECK(numbers(Maximum()({a, b, c})) == std::vector<double>{4, 8, 3, 4});
  CHECK(numbers(Minimum()({a, b, c})) == std::vector<double>{0, 0.5, 1, -1});
  CHECK(numbers(Maximum()(a)) == numbers(a));
  const Tensor counts = Average()({Tensor({1, 4}, {1, 2}).astype(int32), Tensor({2, 4}, {1, 2}).astype(int32)});
  CHECK(counts.dtype() == float32);
  CHECK(numbers(counts) == std::vector<double>{1.5, 4});
  CHECK(Minimum()({Tensor::ones({2, 0}), Tensor::ones({2, 0})}).shape() == Shape{2, 0});
  CHECK(Subtract()({Tensor::ones({2, 3, 4}), Tensor::ones({2, 4})}).shape() == Shape{2, 3, 4});
}

TEST_CASE("Subtract takes exactly two inputs, on data and in a graph") {
  const Tensor a({1, 2}, {1, 2});
  CHECK_THAT(errorOf([&] { (void)Subtract()({a, a, a}); }),
             Contains("ValueError: A `Subtract` layer should be called on exactly 2 inputs. Received: 3 inputs"));
  CHECK_THAT(errorOf([&] { (void)Subtract()(a); }), Contains("Received: 1 inputs"));
  CHECK_THAT(errorOf([&] { (void)Subtract()(Values{Input({2}), Input({2}), Input({2})}); }), Contains("exactly 2"));
  const Subtract built;
  (void)built({a, a});
  CHECK_THAT(errorOf([&] { (void)built({a, a, a}); }), Contains("exactly 2 inputs"));
}

TEST_CASE("NaN in one input is NaN in every merge, and so is the difference of infinities") {
  const float inf = std::numeric_limits<float>::infinity(), missing = std::numeric_limits<float>::quiet_NaN();
  const Tensor nan({missing, 1, inf}, {1, 3}), x({1, missing, inf}, {1, 3});
  for (const Layer &layer : std::vector<Layer>{Add(), Subtract(), Multiply(), Average(), Maximum(), Minimum()}) {
    INFO(layer.class_name());
    const std::vector<double> found = numbers(layer({nan, x}));
    CHECK(std::isnan(found[0]));
    CHECK(std::isnan(found[1]));
    CHECK(std::isnan(found[2]) == (layer.class_name() == "Subtract"));
  }
}

namespace {
/// The result of merging two sequences of three steps, and the steps that its mask shows. A 9 masks a step of the first
/// sequence, an 8 a step of the second.
std::vector<std::vector<double>> merged(const Layer &layer, bool bothMasked) {
  const Tensor a({1, 9, 9, 4, 5, 9}, {2, 3, 1}), b({2, 3, 8, 8, 8, 8}, {2, 3, 1});
  const auto results = runOnce(Run::compiled, {a, b}, [&](const std::vector<Value> &v) {
    const Value y = layer(Values{Masking(9.0)(v[0]), bothMasked ? Masking(8.0)(v[1]) : v[1]});
    return std::vector{y, y.mask().defined() ? ops::cast(y.mask(), float32) : ops::zeros_like(v[0])};
  });
  return {numbers(results[0]), numbers(results[1])};
}
} // namespace

TEST_CASE("The result of a merge shows a step if one of its inputs does, provided that all carry masks") {
  using Rows = std::vector<std::vector<double>>;
  const std::vector<double> either{1, 1, 0, 1, 1, 0}, none(6, 0.0);
  CHECK(merged(Add(), true) == Rows{{3, 3, 0, 4, 5, 0}, either});
  CHECK(merged(Subtract(), true) == Rows{{-1, -3, 0, 4, 5, 0}, either});
  CHECK(merged(Average(), true) == Rows{{1.5, 1.5, 0, 2, 2.5, 0}, either});
  CHECK(merged(Multiply(), true) == Rows{{2, 3, 0, 4, 5, 0}, either});
  CHECK(merged(Maximum(), true) == Rows{{2, 3, 0, 4, 5, 0}, either});
  CHECK(merged(Minimum(), true) == Rows{{1, 3, 0, 4, 5, 0}, either});
  CHECK(merged(Add(), false) == Rows{{3, 3, 8, 12, 13, 8}, none});
  CHECK(merged(Multiply(), false) == Rows{{2, 3, 8, 32, 40, 8}, none});
  CHECK(merged(Maximum(), false) == Rows{{2, 3, 8, 8, 8, 8}, none});
  CHECK(merged(Minimum(), false) == Rows{{1, 3, 8, 4, 5, 8}, none});
}
