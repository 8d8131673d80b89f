// ZeroPadding and Cropping: values, shapes and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("ZeroPadding puts zeros before and after each spatial axis") {
  CHECK(numbers(ZeroPadding1D({2, 1})(Tensor({1, 2, 3, 4}, {1, 2, 2}))) ==
        std::vector<double>{0, 0, 0, 0, 1, 2, 3, 4, 0, 0});
  CHECK(numbers(ZeroPadding2D({{1, 0}, {0, 1}})(Tensor({1, 2, 3, 4}, {1, 2, 2, 1}))) ==
        std::vector<double>{0, 0, 0, 1, 2, 0, 3, 4, 0});
  CHECK(ZeroPadding2D()(Tensor::ones({1, 2, 3, 4})).shape() == Shape{1, 4, 5, 4});
  CHECK(ZeroPadding2D({1, 2})(Tensor::ones({1, 2, 3, 4})).shape() == Shape{1, 4, 7, 4});
  CHECK(ZeroPadding3D({1, {0, 2}, 0})(Tensor::ones({1, 2, 3, 4, 5})).shape() == Shape{1, 4, 5, 4, 5});
  CHECK(ZeroPadding2D(0)(Tensor::ones({1, 2, 3, 4})).shape() == Shape{1, 2, 3, 4});
  CHECK(numbers(ZeroPadding2D(1)(Tensor::ones({1, 0, 1, 1}))) == std::vector<double>(6, 0.0));
  CHECK(ZeroPadding1D()(Tensor::of<int8_t>({1, 2}, {1, 2, 1})).dtype() == int8);
}

TEST_CASE("Cropping takes the margins off, and its gradient puts zeros there") {
  CHECK(numbers(Cropping1D({1, 2})(counted({1, 5, 1}))) == std::vector<double>{1, 2});
  CHECK(numbers(Cropping2D({{0, 1}, {1, 0}})(counted({1, 3, 3, 1}))) == std::vector<double>{1, 2, 4, 5});
  CHECK(Cropping3D()(Tensor::ones({1, 3, 4, 5, 2})).shape() == Shape{1, 1, 2, 3, 2});
  CHECK(Cropping2D()(Tensor::ones({1, 3, 4, 2})).shape() == Shape{1, 3, 4, 2});
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {counted({1, 4, 1})}, [](const std::vector<Value> &v) {
      const Value y = ZeroPadding1D({1, 0})(Cropping1D({1, 1})(v[0]));
      return std::vector{gradients(ops::sum(y * y), std::vector{v[0]})[0]};
    });
    CHECK(numbers(results[0]) == std::vector<double>{0, 2, 4, 0});
  }
}

TEST_CASE("Margins that cannot be are refused with the layer's name or path") {
  CHECK_THROWS_WITH(ZeroPadding1D({1, 2, 3}), Contains("The `padding` argument must be a tuple of 2 integers. Received "
                                                       "padding=(1, 2, 3)"));
  CHECK_THROWS_WITH(ZeroPadding1D({1, -2}), Contains("padding=(1, -2), with values that do not satisfy `value >= 0`"));
  CHECK_THROWS_WITH(ZeroPadding2D({1, 2, 3}), Contains("`padding` should have 2 elements. Received: padding=((1, 1), "
                                                       "(2, 2), (3, 3))"));
  CHECK_THROWS_WITH(ZeroPadding3D({1, 2}), Contains("`padding` should have 3 elements"));
  CHECK_THROWS_WITH(Cropping2D(-1), Contains("`cropping` should have 2 elements, none of them negative. Received: "
                                             "cropping=((-1, -1), (-1, -1))"));
  CHECK_THROWS_WITH(ZeroPadding2D()(Tensor::ones({1, 2, 3})), Contains("expected ndim=4, found ndim=3"));
  CHECK_THROWS_WITH(Cropping2D(1)(Tensor::ones({1, 2, 3, 4})),
                    Contains("Values in `cropping` argument should be smaller than the corresponding spatial dimension "
                             "of the input. Received: inputs.shape=(1, 2, 3, 4), cropping=(1, 1) of axis 1"));
  try {
    (void)Cropping1D(2, {.name = "cut"})(Input({4, 2}));
    FAIL("no error");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK(error.layer_path() == "cut");
  }
}
