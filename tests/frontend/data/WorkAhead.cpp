// map on threads: order, prefetch distance, errors, and a process without threads.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include "tests/frontend/data/Elements.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
/// Takes longer for some elements than for the elements after them.
Batch doubled(Batch batch) {
  const auto number = static_cast<int>(batch.x[0].item<float>());
  std::this_thread::sleep_for(std::chrono::microseconds(number % 3 == 0 ? 400 : 0));
  return Batch{.x = batch.x[0] * 2.0};
}
std::vector<float> evenNumbers(int64_t count) {
  std::vector<float> numbers = numbersFrom(0, count);
  for (float &number : numbers)
    number *= 2;
  return numbers;
}
} // namespace

TEST_CASE("map on threads gives the elements in their order, whatever the count of threads") {
  for (const int64_t threads : {1, 2, 4, 9}) {
    const MapArgs args{.num_parallel_calls = threads};
    for (const int64_t count : {0, 1, 2, 37}) {
      CHECK(numbersOf(countedElements(count).map(doubled, args)) == evenNumbers(count));
      CHECK(numbersOf(generated(count).map(doubled, args)) == evenNumbers(count));
    }
    CHECK(countedElements(5).map(doubled, args).cardinality() == 5);
    const std::vector<float> once = numbersOf(countedElements(40).shuffle(40, 3).map(doubled).batch(7));
    CHECK(numbersOf(countedElements(40).shuffle(40, 3).map(doubled, args).batch(7).prefetch(2)) == once);
    CHECK(numbersOf(countedElements(4).map(doubled, args).repeat(3).map(doubled, args).skip(10)) ==
          std::vector<float>{8, 12});
  }
}

TEST_CASE("map on threads is at most as many elements ahead of the reader as it has threads") {
  std::atomic<int64_t> begun = 0;
  const Dataset data = countedElements(100).map(
      [&](Batch batch) {
        ++begun;
        return batch;
      },
      {.num_parallel_calls = 3});
  Dataset::iterator at = data.begin();
  for (int taken = 1; taken < 20; ++taken, ++at) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(begun <= taken + 3);
  }
}

TEST_CASE("The elements of a map on threads end with the first error, at its place") {
  for (const bool isOfSource : {false, true})
    for (const int64_t threads : {1, 2, 4}) {
      const auto failing = [](Batch batch) {
        if (batch.x[0].item<float>() >= 5)
          throw Error(ErrorKind::io_error, "no " + std::to_string(static_cast<int>(batch.x[0].item<float>())));
        return batch;
      };
      const auto same = [](Batch batch) { return batch; };
      const Dataset data = isOfSource ? countedElements(30).map(failing).map(same, {.num_parallel_calls = threads})
                                      : countedElements(30).map(failing, {.num_parallel_calls = threads});
      Dataset::iterator at = data.begin();
      for (int i = 0; i < 4; ++i, ++at)
        CHECK((*at).x[0].item<float>() == static_cast<float>(i));
      CHECK((*at).x[0].item<float>() == 4);
      CHECK_THROWS_WITH(++at, Contains("no 5"));
      ++at;
      CHECK_FALSE(at != data.end());
      CHECK_THROWS_WITH(numbersOf(data), Contains("no 5"));
    }
}

TEST_CASE("An iteration that ends early stops its threads") {
  std::atomic<int64_t> running = 0;
  {
    const Dataset data = countedElements(1000).repeat().map(
        [&](Batch batch) {
          ++running;
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          --running;
          return batch;
        },
        {.num_parallel_calls = 4});
    Dataset::iterator at = data.begin();
    ++at;
  }
  CHECK(running == 0);
}

TEST_CASE("map on threads gives the same elements if the system starts no thread, or fewer") {
  for (const int limit : {0, 1, 2}) {
    const ThreadLimit few(limit);
    CHECK(numbersOf(countedElements(20).map(doubled, {.num_parallel_calls = 4})) == evenNumbers(20));
  }
}

TEST_CASE("map refuses a count of threads below 1 and an empty function") {
  CHECK_THROWS_WITH(countedElements(2).map(doubled, {.num_parallel_calls = 0}),
                    Contains("num_parallel_calls must be positive, got 0"));
  CHECK_THROWS_WITH(countedElements(2).map({}, {.num_parallel_calls = 2}), Contains("needs a function"));
  CHECK(numbersOf(countedElements(9).map(doubled, {.num_parallel_calls = INT64_MAX})) == evenNumbers(9));
}
