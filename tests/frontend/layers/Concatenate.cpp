// Concatenate: Keras's values, dtypes and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;

TEST_CASE("Concatenate as Keras's example has it") {
  std::vector<int32_t> first(20), second(10);
  std::iota(first.begin(), first.end(), 0);
  std::iota(second.begin(), second.end(), 20);
  Tensor y = Concatenate(1)({Tensor(first, {2, 2, 5}), Tensor(second, {2, 1, 5})});
  CHECK(y.shape() == Shape{2, 3, 5});
  CHECK(y.dtype() == int32);
  CHECK(numbers(y) == Row{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  20, 21, 22, 23, 24,
                          10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 25, 26, 27, 28, 29});
  CHECK(Concatenate(0)({Tensor::ones({2, 3}), Tensor::ones({3, 3})}).shape() == Shape{5, 3});
  CHECK_THAT(Concatenate(2).get_config().dump(), Contains("\"axis\":2"));
}

// policies 11.1
TEST_CASE("Concatenate's floats are autocast, integers are promoted with them") {
  Tensor x = Tensor::ones({2, 3}), i = Tensor::ones({2, 1}, int32);
  for (auto [policy, dtype] :
       {std::pair("mixed_float16", float16), std::pair("float32", float32), std::pair("bfloat16", bfloat16)}) {
    CHECK(Concatenate(-1, {.dtype = policy})({x, i}).dtype() == dtype);
    CHECK(Concatenate(-1, {.dtype = policy})({i, i}).dtype() == int32);
  }
}

TEST_CASE("Concatenate's inputs agree but for the axis; batches may be unknown") {
  for (auto [a, b, axis] : {std::tuple(Shape{2, 3}, Shape{3, 3}, 1), std::tuple(Shape{2, 3}, Shape{2, 3, 1}, -1),
                            std::tuple(Shape{2, 3}, Shape{3, 4}, 0)})
    CHECK_THAT(errorOf([&, a = a, b = b, axis = axis] { (void)Concatenate(axis)({Tensor::ones(a), Tensor::ones(b)}); }),
               Contains("ValueError: A `Concatenate` layer requires inputs with matching shapes except for the "
                        "concatenation axis. Received: input_shape=["));
  CHECK_THAT(errorOf([] { (void)Concatenate()(Tensors()); }), Contains("at least 1 input"));
  CHECK_THAT(errorOf([] { (void)Concatenate(2)(Tensor::ones({2, 3})); }),
             Contains("axis 2 is out of range for rank 2"));
  Input a({none, 4}), b({none, 5}), c({3, 4});
  CHECK(Concatenate()({a, b}).shape() == Shape{none, none, 9});
  CHECK(Concatenate(1)({a, c}).shape() == Shape{none, none, 4});
}
