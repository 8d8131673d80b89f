// Tensors as text.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;

TEST_CASE("Tensors print their values, shape and dtype") {
  CHECK(Tensor({1, 2.5f, -3, 0.1f}, {2, 2}).str() == "[[1, 2.5],\n [-3, 0.1]]\nTensor(shape=(2, 2), dtype=float32)");
  CHECK(Tensor::scalar(std::numeric_limits<int64_t>::max()).str() ==
        "9223372036854775807\nTensor(shape=(), dtype=int64)");
  CHECK(Tensor::of<int32_t>({16777217}, {1}).str() == "[16777217]\nTensor(shape=(1,), dtype=int32)");
  CHECK(Tensor::full({1}, 1.0 / 3, float64).str() == "[0.3333333333333333]\nTensor(shape=(1,), dtype=float64)");
  CHECK(Tensor::ones({2}, DType::bool_).str() == "[True, True]\nTensor(shape=(2,), dtype=bool)");
  CHECK(Tensor::full({1}, 448, float8_e4m3fn).str() == "[448]\nTensor(shape=(1,), dtype=float8_e4m3fn)");
  CHECK(Tensor::zeros({0, 2}).str() == "[]\nTensor(shape=(0, 2), dtype=float32)");
  CHECK(Tensor::zeros({2, 0}).str() == "[]\nTensor(shape=(2, 0), dtype=float32)");
  const int64_t huge = int64_t{1} << 62;
  CHECK(Tensor::zeros({huge, huge, 0}).str().starts_with("[]\nTensor(shape=("));
  CHECK(Tensor::zeros({1, 1, 1}).str() == "[[[0]]]\nTensor(shape=(1, 1, 1), dtype=float32)");
}

TEST_CASE("A large tensor prints shortened") {
  const std::string text = Tensor::ones({1001}).str();
  CHECK(text == "[1, 1, 1, ..., 1, 1, 1]\nTensor(shape=(1001,), dtype=float32)");
  CHECK(Tensor::ones({60000, 28, 28}, uint8).str().size() < 2000);
  CHECK(Tensor::ones({1000}).str().find("...") == std::string::npos);
}

TEST_CASE("Strings are printed in quotes, with escapes for what a terminal cannot take") {
  const Tensor t(std::vector<std::string>{"a b", "\xc3\xa9\n"}, {1, 2});
  CHECK(t.str() == "[[\"a b\", \"\xc3\xa9\\0A\"]]\nTensor(shape=(1, 2), dtype=string)");
}
