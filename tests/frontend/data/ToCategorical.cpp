// to_categorical: Keras's values, shapes, and rejected labels.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;
using utils::to_categorical;

TEST_CASE("to_categorical gives rows of zeros and a one, in float32") {
  const Tensor rows = to_categorical(Tensor({0, 2, 1}, int32));
  CHECK(rows.dtype() == float32);
  CHECK(rows.shape() == Shape{3, 3});
  CHECK(rows.to_vector<float>() == std::vector<float>{1, 0, 0, 0, 0, 1, 0, 1, 0});
  CHECK(to_categorical(Tensor({0, 1}, uint8), 4).shape() == Shape{2, 4});
  CHECK(to_categorical(Tensor({{0}, {1}}, int64)).shape() == Shape{2, 2});
  CHECK(to_categorical(Tensor({{0, 1}, {2, 1}}, int64)).shape() == Shape{2, 2, 3});
  CHECK(to_categorical(Tensor({{0.0}, {3.0}})).shape() == Shape{2, 4});
  CHECK(to_categorical(Tensor::full({}, 1, int32)).to_vector<float>() == std::vector<float>{0, 1});
  CHECK(to_categorical(Tensor::zeros({0}, int32), 3).shape() == Shape{0, 3});
  CHECK(to_categorical(Tensor::full({1}, 1, int32), 0).shape() == Shape{1, 2});
}

TEST_CASE("to_categorical refuses labels outside of the classes, and labels that are not whole") {
  CHECK_THROWS_WITH(to_categorical(Tensor({0, 3}, int32), 3),
                    Contains("the label 3 at index 1 is out of range for 3 classes"));
  CHECK_THROWS_WITH(to_categorical(Tensor({0, -1}, int32)), Contains("the label -1 at index 1"));
  CHECK_THROWS_WITH(to_categorical(Tensor({-1}, int32)), Contains("the label -1 at index 0"));
  CHECK_THROWS_WITH(
      to_categorical(Tensor::full({1}, INT64_MAX, int64)),
      Contains("the label 9223372036854775807 at index 0 is out of range for 9223372036854775807 classes"));
  CHECK_THROWS_WITH(to_categorical(Tensor({0.5})), Contains("labels must be integers, got 0.5"));
  CHECK_THROWS_WITH(to_categorical(Tensor::full({1}, NAN)), Contains("labels must be integers, got nan"));
  CHECK_THROWS_WITH(to_categorical(Tensor::zeros({0}, int32)), Contains("without labels, num_classes must be given"));
  CHECK_THROWS_WITH(to_categorical(Tensor({0}, int32), -2), Contains("num_classes must be positive, got -2"));
}
