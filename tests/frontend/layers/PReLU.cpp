// PReLU: its weight, shared axes, gradients, rejected inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("PReLU multiplies what is below 0 by its weight, and trains it") {
  const PReLU layer({.alpha_initializer = initializers::Constant(0.25)});
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {Tensor({-4, 2, 0, -1, -8, 3}, {2, 3})}, [&](const std::vector<Value> &v) {
      const Value y = layer(v[0]), loss = ops::sum(y);
      return std::vector{y, gradients(loss, std::vector{v[0]})[0], gradients(loss, std::vector{layer.alpha()})[0]};
    });
    CHECK(numbers(results[0]) == std::vector<double>{-1, 2, 0, -0.25, -2, 3});
    CHECK(numbers(results[1]) == std::vector<double>{0.25, 1, 0, 0.25, 0.25, 1}); // the derivative of a ReLU at 0
    CHECK(numbers(results[2]) == std::vector<double>{-5, -8, 0});
  }
  CHECK(layer.alpha().path() == layer.name() + "/alpha");
}

TEST_CASE("PReLU has one weight along each shared axis") {
  const PReLU spatial({.alpha_regularizer = "l2", .alpha_constraint = "non_neg", .shared_axes = Axes{1, 2}});
  (void)spatial(Input({none, none, 3}));
  CHECK(spatial.alpha().shape() == Shape{1, 1, 3});
  const PReLU one({.shared_axes = 1});
  CHECK(one(Tensor::ones({2, 4, 3})).shape() == Shape{2, 4, 3});
  CHECK(one.alpha().shape() == Shape{1, 3});
  const PReLU half({.alpha_initializer = "ones", .dtype = "mixed_bfloat16"});
  CHECK(half(Tensor({-1, 1}, {1, 2})).dtype() == bfloat16);
  CHECK(half.alpha().dtype() == float32);
}

TEST_CASE("PReLU refuses axes that the input has not and extents that nobody knows") {
  for (const Axes &axes : {Axes{0}, Axes{-1}, Axes{3}})
    CHECK_THAT(errorOf([&] { (void)PReLU({.shared_axes = axes})(Tensor::ones({2, 4, 3})); }),
               Contains("ValueError: PReLU needs an input") && Contains("shared_axes=["));
  CHECK_THAT(errorOf([&] { (void)PReLU()(Input({none, 3})); }), Contains("known extents"));
  const PReLU built;
  (void)built(Tensor::ones({2, 4}));
  CHECK_THAT(errorOf([&] { (void)built(Tensor::ones({2, 4, 4})); }), Contains("ValueError"));
}
