// pad_sequences: both ends, lengths, dtypes and rejected numbers.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;
using utils::pad_sequences;

namespace {
using Integers = std::vector<int32_t>;
const std::vector<std::vector<int64_t>> sequences = {{1}, {2, 3}, {4, 5, 6}, {}};
} // namespace

TEST_CASE("pad_sequences pads and cuts at either end") {
  CHECK(pad_sequences(sequences).shape() == Shape{4, 3});
  CHECK(pad_sequences(sequences).dtype() == int32);
  CHECK(pad_sequences(sequences).to_vector<int32_t>() == Integers{0, 0, 1, 0, 2, 3, 4, 5, 6, 0, 0, 0});
  CHECK(pad_sequences(sequences, {.value = -1}).to_vector<int32_t>() ==
        Integers{-1, -1, 1, -1, 2, 3, 4, 5, 6, -1, -1, -1});
  CHECK(pad_sequences(sequences, {.padding = "post"}).to_vector<int32_t>() ==
        Integers{1, 0, 0, 2, 3, 0, 4, 5, 6, 0, 0, 0});
  CHECK(pad_sequences(sequences, {.maxlen = 2}).to_vector<int32_t>() == Integers{0, 1, 2, 3, 5, 6, 0, 0});
  CHECK(pad_sequences(sequences, {.maxlen = 2, .truncating = "post"}).to_vector<int32_t>() ==
        Integers{0, 1, 2, 3, 4, 5, 0, 0});
  CHECK(pad_sequences(sequences, {.maxlen = 0}).shape() == Shape{4, 0});
  CHECK(pad_sequences(std::vector<std::vector<int64_t>>(2)).shape() == Shape{2, 0});
  CHECK(pad_sequences(std::vector<std::vector<int64_t>>(), {.maxlen = 3}).shape() == Shape{0, 3});
  CHECK(pad_sequences({{1, 2, 3}, {4}}, {.maxlen = 4, .padding = "post"}).shape() == Shape{2, 4});
}

TEST_CASE("pad_sequences takes floats, which an integer dtype cuts") {
  const std::vector<std::vector<double>> floats = {{0.5, -1.75}, {2.5}};
  CHECK(pad_sequences(floats, {.dtype = float32, .value = 0.25}).to_vector<float>() ==
        std::vector<float>{0.5f, -1.75f, 0.25f, 2.5f});
  CHECK(pad_sequences(floats, {.value = 0.25}).to_vector<int32_t>() == Integers{0, -1, 0, 2});
}

TEST_CASE("pad_sequences takes integers and floats of any type") {
  CHECK(pad_sequences(std::vector<std::vector<int32_t>>{{1}, {2, 3}}).to_vector<int32_t>() == Integers{0, 1, 2, 3});
  CHECK(pad_sequences(std::vector<std::vector<uint8_t>>{{255}}).to_vector<int32_t>() == Integers{255});
  CHECK(pad_sequences(std::vector<std::vector<bool>>{{true, false}, {true}}).to_vector<int32_t>() ==
        Integers{1, 0, 0, 1});
  const std::vector<std::vector<uint64_t>> large = {{UINT64_MAX, 1}, {uint64_t(1) << 63}};
  CHECK(pad_sequences(large, {.dtype = uint64}).to_vector<uint64_t>() ==
        std::vector<uint64_t>{UINT64_MAX, 1, 0, uint64_t(1) << 63});
  CHECK(pad_sequences(large, {.dtype = float32}).to_vector<float>() ==
        std::vector<float>{0x1p64f, 1.0f, 0.0f, 0x1p63f});
  CHECK(pad_sequences(std::vector<std::vector<float>>{{0.5f}}, {.dtype = float32}).to_vector<float>() ==
        std::vector<float>{0.5f});
}

TEST_CASE("pad_sequences refuses numbers that the dtype does not hold") {
  CHECK_THROWS_WITH(pad_sequences({{1, 300}}, {.dtype = uint8}), Contains("uint8 cannot represent 300"));
  CHECK_THROWS_WITH(pad_sequences({{int64_t(1) << 40}}), Contains("int32 cannot represent 1099511627776"));
  CHECK_THROWS_WITH(pad_sequences(std::vector<std::vector<uint64_t>>{{UINT64_MAX}}, {.dtype = int64}),
                    Contains("int64 cannot represent 18446744073709551615"));
  CHECK_THROWS_WITH(pad_sequences({{-1}}, {.dtype = uint64}), Contains("uint64 cannot represent -1"));
  CHECK_THROWS_WITH(pad_sequences(std::vector<std::vector<double>>{{NAN}}), Contains("nan is not an integer"));
  CHECK_THROWS_WITH(pad_sequences(sequences, {.maxlen = -1}), Contains("maxlen must not be negative, got -1"));
  CHECK_THROWS_WITH(pad_sequences(std::vector<std::vector<int64_t>>()), Contains("maxlen must be given"));
  CHECK_THROWS_WITH(pad_sequences(sequences, {.dtype = uint8, .value = -1.0}), Contains("uint8 cannot represent -1"));
}
