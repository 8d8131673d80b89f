// Global pooling: shapes, ranks, narrow sums.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Global pooling leaves one element for each channel, and with keepdims its axes") {
  CHECK(numbers(GlobalMaxPooling1D()(counted({1, 3, 2}))) == std::vector<double>{4, 5});
  CHECK(numbers(GlobalAveragePooling2D()(counted({1, 2, 2, 2}))) == std::vector<double>{3, 4});
  const GlobalPoolingArgs kept{.data_format = DataFormat::channels_first, .keepdims = true};
  CHECK(numbers(GlobalMaxPooling2D(kept)(counted({1, 2, 2, 2}))) == std::vector<double>{3, 7});
  CHECK(GlobalMaxPooling2D(kept)(counted({1, 2, 2, 2})).shape() == Shape{1, 2, 1, 1});
  CHECK(GlobalAveragePooling3D(kept)(counted({2, 3, 1, 2, 2})).shape() == Shape{2, 3, 1, 1, 1});
  CHECK(GlobalMaxPooling3D()(counted({2, 3, 1, 2, 2})).shape() == Shape{2, 2});
  CHECK(GlobalAveragePooling1D()(counted({0, 3, 2})).shape() == Shape{0, 2});
  CHECK_THROWS_WITH(GlobalMaxPooling2D()(counted({1, 2, 3})), Contains("expected ndim=4, found ndim=3"));
}

TEST_CASE("The mean of a narrow float is that of a sum that does not overflow") {
  const Tensor x = Tensor::full({1, 64, 64, 1}, 60000, float16);
  CHECK(numbers(GlobalAveragePooling2D({.dtype = "float16"})(x)) == std::vector<double>{60000});
}

TEST_CASE("A NaN is the largest element of its channel") {
  const std::vector<double> y = numbers(GlobalMaxPooling1D()(Tensor({1, 2, NAN, 1, 0, 3}, {1, 3, 2})));
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 3);
}
