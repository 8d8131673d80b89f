// split_dataset: fractions and counts, batches, shuffles, and rejected sizes.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "tests/frontend/data/Elements.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using utils::split_dataset;

TEST_CASE("split_dataset gives the first and the last elements, by shares and by counts") {
  const auto split = [](std::optional<double> left, std::optional<double> right, int64_t count = 10) {
    const auto [first, last] = split_dataset(countedElements(count), left, {.right_size = right});
    CHECK(first.cardinality() == std::ssize(numbersOf(first)));
    CHECK(last.cardinality() == std::ssize(numbersOf(last)));
    return std::pair(numbersOf(first), numbersOf(last));
  };
  CHECK(split(0.8, {}) == std::pair(numbersFrom(0, 8), numbersFrom(8, 10)));
  CHECK(split({}, 0.3) == std::pair(numbersFrom(0, 7), numbersFrom(7, 10)));
  CHECK(split(3, {}) == std::pair(numbersFrom(0, 3), numbersFrom(3, 10)));
  CHECK(split(3, 2) == std::pair(numbersFrom(0, 3), numbersFrom(8, 10)));
  CHECK(split(0.5, {}, 5) == std::pair(numbersFrom(0, 2), numbersFrom(2, 5))); // 2.5 becomes 2, as in Python
  CHECK(split(0.5, {}, 7) == std::pair(numbersFrom(0, 4), numbersFrom(4, 7))); // 3.5 becomes 4
}

TEST_CASE("split_dataset splits the elements of batches and batches both parts again") {
  const auto [first, last] = split_dataset(countedElements(10).batch(3).prefetch(2), 0.7);
  CHECK(first.cardinality() == 3);
  CHECK((*first.begin()).x[0].shape() == Shape{3});
  CHECK(numbersOf(first) == numbersFrom(0, 7));
  CHECK(numbersOf(last) == numbersFrom(7, 10));
  const auto [one, other] = split_dataset(generated(10).batch(3), 0.7);
  CHECK(numbersOf(one) == numbersFrom(0, 7));
  CHECK(numbersOf(other) == numbersFrom(7, 10));
}

TEST_CASE("The parts of a shuffled dataset never exchange elements") {
  int64_t calls = 0;
  const Dataset shuffled = countedElements(30).shuffle(30).map([&](Batch batch) {
    ++calls;
    return batch;
  });
  const auto [first, last] = split_dataset(shuffled, 0.5);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<float> all = numbersOf(first);
    for (const float number : numbersOf(last))
      all.push_back(number);
    std::ranges::sort(all);
    CHECK(all == numbersFrom(0, 30));
  }
  CHECK(calls == 30);
  const auto [a, b] = split_dataset(countedElements(30), 10, {.shuffle = true, .seed = 4});
  const auto [c, d] = split_dataset(countedElements(30), 10, {.shuffle = true, .seed = 4});
  CHECK(numbersOf(a) == numbersOf(c));
  CHECK(numbersOf(a) != numbersFrom(0, 10));
  CHECK(numbersOf(b) == numbersOf(d));
}

TEST_CASE("split_dataset refuses sizes that are no part of the data") {
  const auto split = [](std::optional<double> left, std::optional<double> right) {
    return split_dataset(countedElements(10), left, {.right_size = right});
  };
  CHECK_THROWS_WITH(split({}, {}), Contains("At least one of the `left_size` or `right_size` must be specified"));
  for (const double size : {0.0, -0.5, -1.0, 1.5, 10.0, 11.0, double(NAN), double(INFINITY)}) {
    CHECK_THROWS_WITH(split(size, {}), Contains("`left_size` should be either a positive integer smaller than 10"));
    CHECK_THROWS_WITH(split({}, size), Contains("`right_size` should be either a positive integer smaller than 10"));
  }
  CHECK_THROWS_WITH(split(0.6, 0.6), Contains("The sum of `left_size` and `right_size` is greater than 1"));
  CHECK_THROWS_WITH(split(6, 6), Contains("should be smaller than the 10"));
  CHECK_THROWS_WITH(split(0.01, {}), Contains("10 elements split into 0 on the left"));
  CHECK_THROWS_WITH(split_dataset(countedElements(1), 0.4), Contains("each part needs at least one"));
  CHECK_THROWS_WITH(split_dataset(countedElements(3).repeat(), 0.4), Contains("the dataset is infinite"));
}
