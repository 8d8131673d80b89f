// take, skip, filter, concatenate, unbatch and zip: elements, counts and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/data/Elements.h"
#include <catch2/catch.hpp>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
using Counts = std::optional<int64_t>;
bool isEven(const Batch &batch) { return static_cast<int>(batch.x[0].item<float>()) % 2 == 0; }
} // namespace

TEST_CASE("skip gives the elements that take leaves") {
  for (const int64_t count : {0, 1, 4, 5, 9}) {
    for (const Dataset &data : {countedElements(5), generated(5)}) {
      CHECK(numbersOf(data.take(count)) == numbersFrom(0, std::min<int64_t>(count, 5)));
      CHECK(numbersOf(data.skip(count)) == numbersFrom(std::min<int64_t>(count, 5), 5));
    }
    CHECK(countedElements(5).skip(count).cardinality() == std::max<int64_t>(0, 5 - count));
    CHECK(generated(5).skip(count).cardinality() == Counts());
  }
  CHECK(generated(5).take(0).cardinality() == 0);
  CHECK(numbersOf(countedElements(3).repeat().skip(4).take(3)) == std::vector<float>{1, 2, 0});
  CHECK_FALSE(countedElements(3).repeat().skip(4).cardinality().has_value());
  CHECK_THROWS_WITH(countedElements(3).skip(-1), Contains("skip: count must not be negative, got -1"));
}

TEST_CASE("filter keeps the elements that pass, and does not know their count") {
  const Dataset even = countedElements(7).filter(isEven);
  CHECK(numbersOf(even) == std::vector<float>{0, 2, 4, 6});
  CHECK(even.cardinality() == Counts());
  CHECK(countedElements(0).filter(isEven).cardinality() == 0);
  CHECK(numbersOf(even.batch(3)) == std::vector<float>{0, 2, 4, 6});
  CHECK(numbersOf(even.repeat(2).skip(3).take(3)) == std::vector<float>{6, 0, 2});
  CHECK(numbersOf(countedElements(5).filter([](const Batch &) { return false; })).empty());
  const Dataset failing = countedElements(5).filter([](const Batch &batch) -> bool {
    if (batch.x[0].item<float>() == 2)
      throw Error(ErrorKind::io_error, "disk gone");
    return true;
  });
  CHECK_THROWS_WITH(numbersOf(failing), Contains("disk gone"));
  CHECK_THROWS_WITH(countedElements(3).filter({}), Contains("Dataset::filter needs a function"));
}

TEST_CASE("concatenate gives the elements of one dataset after those of the other") {
  const Dataset data = countedElements(2).concatenate(countedElements(3));
  CHECK(numbersOf(data) == std::vector<float>{0, 1, 0, 1, 2});
  CHECK(numbersOf(data) == std::vector<float>{0, 1, 0, 1, 2});
  CHECK(data.cardinality() == 5);
  CHECK(numbersOf(data.repeat(2)).size() == 10);
  CHECK(numbersOf(countedElements(0).concatenate(generated(1)).concatenate(countedElements(0))) ==
        std::vector<float>{0});
  CHECK(countedElements(2).concatenate(generated(2)).cardinality() == Counts());
  CHECK_FALSE(countedElements(2).repeat().concatenate(countedElements(1)).cardinality().has_value());
  CHECK(numbersOf(countedElements(1).concatenate(countedElements(2).repeat()).take(4)) ==
        std::vector<float>{0, 0, 1, 0});
  CHECK(countedElements(1).concatenate(countedElements(2).repeat()).take(4).cardinality() == 4);
  CHECK(countedElements(1).repeat(INT64_MAX).concatenate(countedElements(1)).cardinality() == INT64_MAX);
}

TEST_CASE("unbatch gives the rows of batches, and knows the count of a batch() before it") {
  const Dataset rows(Tensor({{1, 2}, {3, 4}, {5, 6}}), countedTo(3));
  const Dataset data = rows.batch(2).unbatch();
  CHECK(data.cardinality() == 3);
  CHECK(rows.batch(2, true).unbatch().cardinality() == 2);
  CHECK(rows.batch(2).prefetch(1).unbatch().cardinality() == 3);
  CHECK(rows.batch(2).map([](Batch batch) { return batch; }).unbatch().cardinality() == Counts());
  CHECK(countedElements(0).batch(2).unbatch().cardinality() == 0);
  int64_t row = 0;
  for (const Batch &element : data) {
    CHECK(element.x[0].shape() == Shape{2});
    CHECK(element.y[0].shape().rank() == 0);
    CHECK(element.y[0].item<float>() == static_cast<float>(row++));
  }
  CHECK(row == 3);
  CHECK(numbersOf(generated(7).batch(3).unbatch()) == numbersFrom(0, 7));
  CHECK(numbersOf(generated(7).batch(3).unbatch().batch(4)) == numbersFrom(0, 7));
  const Dataset uneven = Dataset::from_generator([] {
    return [sizes = std::vector<int64_t>{0, 2, 0, 0, 1}, i = size_t{0}]() mutable -> std::optional<Batch> {
      return i == sizes.size() ? std::nullopt : std::optional(Batch{.x = Tensor::ones({sizes[i++]})});
    };
  });
  CHECK(numbersOf(uneven.unbatch()).size() == 3);
  CHECK_THROWS_WITH(numbersOf(countedElements(3).unbatch()), Contains("needs a leading sample axis, got a scalar"));
}

TEST_CASE("zip takes x of each dataset, until one of them ends") {
  const Dataset pairs = Dataset::zip(countedElements(3), Dataset(Tensor({{7, 8}, {9, 10}})));
  CHECK(pairs.cardinality() == 2);
  for (const Batch &element : pairs) {
    CHECK(element.y[0].shape() == Shape{2});
    CHECK(element.y[0].to_vector<float>()[0] == 7 + 2 * element.x[0].item<float>());
    CHECK(element.sample_weight.empty());
  }
  CHECK(numbersOf(pairs) == std::vector<float>{0, 1});
  const Dataset weighted = Dataset::zip(generated(4), countedElements(3).repeat(), countedElements(5));
  CHECK(weighted.cardinality() == Counts());
  CHECK(numbersOf(weighted) == numbersFrom(0, 4));
  CHECK((*weighted.begin()).sample_weight.size() == 1);
  CHECK(Dataset::zip(countedElements(3).repeat(), countedElements(2)).cardinality() == 2);
  const Dataset endless = Dataset::zip(countedElements(3).repeat(), countedElements(2).repeat());
  CHECK_FALSE(endless.cardinality().has_value());
  CHECK(endless.take(5).cardinality() == 5);
  CHECK(Dataset::zip(countedElements(0), generated(2)).cardinality() == 0);
  CHECK_THROWS_WITH(
      numbersOf(Dataset::zip(Dataset(countedTo(2), countedTo(2)), countedElements(2))),
      Contains("zip combines only x of each dataset, but the elements of `x` also have y or sample_weight"));
  const Dataset named(Tensors{{"a", countedTo(2)}, {"b", countedTo(2)}});
  CHECK((*Dataset::zip(named, countedElements(2)).begin()).x.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("Each iteration of joined datasets has new orders of their shuffles, by their seeds") {
  const auto joined = [] { return countedElements(20).shuffle(20, 1).concatenate(countedElements(20).shuffle(20, 2)); };
  const Dataset data = joined();
  const std::vector<float> first = numbersOf(data), second = numbersOf(data);
  CHECK(first != second);
  const Dataset again = joined();
  CHECK(numbersOf(again.prefetch(3)) == first);
  CHECK(numbersOf(again) == second);
  CHECK(std::set<float>(first.begin(), first.begin() + 20).size() == 20);
}
