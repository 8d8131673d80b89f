// Hashing and HashedCrossing: arguments, and rejected ones. KerasStrings.cpp compares the bins.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("A mask has the first bin, and a salt another hash") {
  const Tensor words(std::vector<std::string>{"m", "x", "y"});
  const Hashing hash(5, {.mask_value = "m",
                         .salt = Integers{1, -2},
                         .output_mode = "int",
                         .trainable = false,
                         .dtype = int32,
                         .name = "bins"});
  CHECK(hash.name() == "bins");
  CHECK(hash(words).to_vector<int32_t>() == std::vector<int32_t>{0, 3, 3}); // Keras's values
  CHECK(Hashing(5, {.mask_value = 3})(Tensor({3, 4, 5}, int32)).to_vector<int64_t>() == std::vector<int64_t>{0, 4, 4});
  CHECK(numbers(Hashing(1, {.mask_value = "m"})(words)) == std::vector<double>{0, 0, 0});
  CHECK_THAT(errorOf([&] { (void)hash(Tensor({1}, int32)); }), StartsWith("TypeError") && Contains("`mask_value`"));
}

TEST_CASE("Pairs of strings and integers have Keras's bins") {
  const HashedCrossing cross(5, {.output_mode = "int", .trainable = false, .dtype = int64, .name = "cross"});
  const Tensors pairs({Tensor(std::vector<std::string>{"A", "B", "A"}), Tensor({101, 101, 102}, int32)});
  CHECK(cross(pairs).to_vector<int64_t>() == std::vector<int64_t>{1, 4, 3});
  CHECK(cross.name() == "cross");
  CHECK_THAT(errorOf([&] { (void)cross(Tensor({1}, int32)); }), Contains("at least two inputs"));
  CHECK_THAT(errorOf([&] { (void)cross(Tensors({Tensor({1, 2}, int32), Tensor({1}, int32)})); }),
             Contains("equal shape"));
  CHECK_THAT(errorOf([&] { (void)cross(Tensors({Tensor({1}), Tensor({1})})); }), Contains("an integer or string"));
  CHECK_THAT(errorOf([&] { (void)cross(Tensors({Tensor({{1, 2}}, int32), Tensor({{1, 2}}, int32)})); }),
             Contains("`(batch_size, 1)`"));
}

TEST_CASE("Arguments that do not fit are refused") {
  CHECK_THAT(errorOf([] { (void)Hashing(0); }), StartsWith("ValueError") && Contains("num_bins=0"));
  CHECK_THAT(errorOf([] { (void)Hashing(3, {.salt = Integers{1, 2, 3}}); }), Contains("`salt`"));
  CHECK_THAT(errorOf([] { (void)Hashing(3, {.output_mode = "tf_idf"}); }), Contains("output_mode=tf_idf"));
  CHECK_THAT(errorOf([] { (void)Hashing(3, {.dtype = "float32"}); }), Contains("`dtype` should be an integer type"));
  CHECK_THAT(errorOf([] { (void)Hashing(INT64_MAX, {.output_mode = "one_hot"})(Tensor({1, 2}, int32)); }),
             Contains("ValueError"));
  CHECK_THAT(errorOf([] { (void)HashedCrossing(3, {.output_mode = "count"}); }), Contains("output_mode=count"));
}

TEST_CASE("An integer is hashed as its digits") {
  const Hashing hash(1000003);
  const std::vector<int64_t> integers = {0, 7, -1, 1234567890123, INT64_MAX, INT64_MIN};
  std::vector<std::string> digits;
  for (const int64_t integer : integers)
    digits.push_back(std::to_string(integer));
  CHECK(hash(Tensor(integers)).to_vector<int64_t>() == hash(Tensor(digits)).to_vector<int64_t>());
}
