// MaxPooling and AveragePooling: values, paddings, ties, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Pooling gives the largest element and the mean of each window") {
  const Tensor x = counted({1, 4, 4, 1});
  CHECK(numbers(MaxPooling2D()(x)) == std::vector<double>{5, 7, 13, 15});
  CHECK(numbers(AveragePooling2D(2)(x)) == std::vector<double>{2.5, 4.5, 10.5, 12.5});
  CHECK(numbers(MaxPooling2D({1, 4}, {.strides = 2})(x)) == std::vector<double>{3, 11});
  CHECK(numbers(AveragePooling1D(2, {.strides = 2, .padding = Padding::same})(counted({1, 3, 1}))) ==
        std::vector<double>{0.5, 2});
  CHECK(numbers(MaxPooling1D(2, {.padding = Padding::same})(Tensor({-3, -2, -1}, {1, 3, 1}))) ==
        std::vector<double>{-2, -1}); // padding does not count as an element
  CHECK(numbers(MaxPooling3D({2, 1, 1}, {.data_format = DataFormat::channels_first})(counted({1, 2, 2, 1, 1}))) ==
        std::vector<double>{1, 3});
  CHECK(AveragePooling3D(2)(counted({2, 4, 2, 3, 5})).shape() == Shape{2, 2, 1, 1, 5});
  CHECK(MaxPooling2D(16)(Input({none, none, 3})).shape() == Shape{none, none, none, 3});
  CHECK(MaxPooling2D()(Tensor::ones({0, 4, 4, 1})).shape() == Shape{0, 2, 2, 1});
  CHECK(MaxPooling1D()(Tensor::of<int32_t>({4, 2, 1, 3}, {1, 4, 1})).to_vector<int32_t>() ==
        std::vector<int32_t>{4, 3});
}

TEST_CASE("The first of equal elements gets the gradient of a window") {
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {Tensor({1, 1, 0, 2, 2, 2}, {1, 6, 1})}, [](const std::vector<Value> &v) {
      const Value y = MaxPooling1D(3)(v[0]);
      return std::vector{gradients(ops::sum(y), std::vector{v[0]})[0]};
    });
    CHECK(numbers(results[0]) == std::vector<double>{1, 0, 0, 1, 0, 0});
  }
}

TEST_CASE("Arguments and inputs of pools that cannot be are refused") {
  CHECK_THROWS_WITH(MaxPooling2D({2, 2, 2}),
                    Contains("The `pool_size` argument must be a tuple of 2 integers. Received "
                             "pool_size=(2, 2, 2)"));
  CHECK_THROWS_WITH(MaxPooling2D(0), Contains("pool_size=(0, 0)"));
  CHECK_THROWS_WITH(AveragePooling1D(2, {.strides = -1}), Contains("strides=(-1,)"));
  CHECK_THROWS_WITH(AveragePooling1D(2, {.padding = Padding::causal}), Contains("Received: padding=causal"));
  CHECK_THROWS_WITH(MaxPooling2D()(counted({1, 4, 4})), Contains("expected ndim=4, found ndim=3"));
  try {
    (void)MaxPooling2D(5, {.name = "pool"})(Input({4, 4, 1}));
    FAIL("no error");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK(error.layer_path() == "pool");
  }
}
