// Add and Multiply: several inputs, broadcasting, autocast.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

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
  // Inputs of different ranks: missing axes come after the batch.
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
