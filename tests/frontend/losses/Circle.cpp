// The circle and focal losses: arguments, rows without pairs, shapes. The recorded Keras rows have more values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A row without a pair of its class, or without another class, has no loss and no slope") {
  const losses::Circle loss({.reduction = Reduction::none});
  const Tensor rows({1, 0, 0, 1}, {2, 2});
  for (const Tensor &labels : {Tensor::of<int32_t>({0, 1}, {2}), Tensor::of<int32_t>({1, 1}, {2, 1})}) {
    const std::vector<Tensor> found = runOnce(Run::compiled, {labels, rows}, [&](const std::vector<Value> &v) {
      const Value values = loss(v[0], v[1]);
      return std::vector<Value>{values, gradients(ops::sum(values), std::vector<Value>{v[1]})[0]};
    });
    CHECK(numbers(found[0]) == std::vector<double>{0, 0});
    CHECK(numbers(found[1]) == std::vector<double>{0, 0, 0, 0});
  }
  CHECK_THAT(errorOf([&] { (void)loss(Tensor::zeros({3}), rows); }),
             Contains("circle: expected class indices (batch) and rows (batch, features)"));
}

TEST_CASE("The circle loss takes its factor, and pairs of a sample with itself, from its arguments") {
  const auto lossOf = [](const losses::Circle &loss) {
    const Tensor labels = Tensor::of<int32_t>({0, 0, 1}, {3}), rows({1, 0, 0.6f, 0.8f, 0, 1}, {3, 2});
    return numbers(loss(labels, rows));
  };
  CHECK(near(lossOf(losses::Circle({.gamma = 2.0})), {0.9150352}));
  CHECK(near(lossOf(losses::Circle({.gamma = 2.0, .remove_diagonal = false})), {1.249812}));
}

TEST_CASE("Focal losses weigh classes and hard rows by their arguments") {
  const losses::BinaryFocalCrossentropy binary({.apply_class_balancing = true, .gamma = 1.0});
  CHECK(near(numbers(binary(Tensor({1, 0}, {1, 2}), Tensor({0.8f, 0.4f}, {1, 2}))), {0.0822024}));
  const losses::CategoricalFocalCrossentropy categorical({.gamma = 1.0});
  CHECK(near(numbers(categorical(Tensor({1, 0}, {1, 2}), Tensor({0.8f, 0.2f}, {1, 2}))), {0.0111572}));
}
