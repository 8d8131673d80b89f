// Shapes.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Shape.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("A shape takes any integers and counts axes from both ends") {
  const std::vector<float> rows(3);
  const Shape shape{rows.size(), 784, uint8_t(2)};
  CHECK(shape.rank() == 3);
  CHECK(shape[0] == 3);
  CHECK(shape[-1] == 2);
  CHECK(shape[-3] == 3);
  CHECK(shape.elements() == 3 * 784 * 2);
  CHECK(shape.dims() == std::vector<int64_t>{3, 784, 2});
  CHECK(shape == Shape(std::vector<int64_t>{3, 784, 2}));
  CHECK_FALSE(shape == Shape{3, 784});
  CHECK_THROWS_WITH(shape[3], Catch::Contains("Axis 3 is out of range for the shape (3, 784, 2) of rank 3"));
  CHECK_THROWS_AS(shape[-4], Error);
}

TEST_CASE("A shape prints as in Keras") {
  CHECK(Shape{}.str() == "()");
  CHECK(Shape{5}.str() == "(5,)");
  CHECK(Shape{none, 784}.str() == "(None, 784)");
}

TEST_CASE("A shape counts its elements") {
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{4, 0, int64_t(1) << 62, 8}.elements() == 0);
  CHECK_THROWS_WITH((Shape{none, 2}.elements()), Catch::Contains("(None, 2)"));
  CHECK_THROWS_WITH((Shape{int64_t(1) << 40, int64_t(1) << 40}.elements()), Catch::Contains("63 bits"));
}

TEST_CASE("A negative dimension of a shape other than none is refused") {
  CHECK_THROWS_WITH((Shape{2, -2}), Catch::Contains("at least 0"));
  CHECK_THROWS_AS(Shape(std::vector<int64_t>{-7}), Error);
}
