// The process that owns each element, and what a single process keeps and rejects. tests/distributed compares the bits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerParts.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace halftone;
using namespace halftone::detail;

TEST_CASE("Every element of a variable belongs to one process") {
  for (int64_t elements : {0, 1, 15, 16, 17, 47, 48, 1000, 100003})
    for (int64_t processes : {1, 2, 3, 4, 7}) {
      int64_t next = 0, most = 0;
      for (int64_t rank = 0; rank < processes; ++rank) {
        const Division::Range range = Division{processes, -1}.of(elements, rank);
        CHECK(range.first == next);
        CHECK((range.first % 16 == 0 || range.count() == 0));
        CHECK(range.count() >= 0);
        next = range.last;
        most = std::max(most, range.count());
        const Division::Range whole = Division{processes, 1}.of(elements, rank);
        CHECK(whole.count() == (rank == 1 ? elements : 0));
      }
      CHECK(next == elements);
      CHECK(most <= elements / processes + 32);
    }
}

TEST_CASE("Whole variables go to the process with the fewest elements so far, the large ones first") {
  std::vector<Variable> variables;
  for (int64_t elements : {10, 90, 50, 40, 100, 5000, 0})
    variables.emplace_back(Tensor::ones({elements}));
  const std::vector<bool> isWhole{true, true, true, true, true, false, false}, none(7, false);
  std::vector<int64_t> owned(3);
  std::vector<int64_t> owners(7);
  for (int64_t rank = 0; rank < 3; ++rank) {
    OptimizerParts parts;
    parts.split(rank, 3);
    parts.divide(variables, isWhole, none);
    REQUIRE(parts.parts().size() == 1); // of the variable that is divided
    CHECK(parts.parts()[0].shape() == Shape{rank == 2 ? 1672 : 1664});
    for (size_t i = 0; i < 5; ++i)
      if (parts.own(variables[i]).defined()) {
        CHECK(parts.own(variables[i]).impl() == variables[i].impl());
        owned[static_cast<size_t>(rank)] += variables[i].shape().elements();
        ++owners[i];
      }
  }
  CHECK(owned == std::vector<int64_t>{100, 100, 90});
  CHECK(owners == std::vector<int64_t>{1, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("A process keeps its cut of a slot, and alone it has no whole") {
  const Variable large(Tensor::ones({20, 10})), overwritten(Tensor::ones({4}));
  std::vector<float> numbers(200);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  OptimizerParts parts;
  parts.requireWhole();
  parts.split(1, 3);
  parts.divide({large, overwritten}, {false, false}, {false, true});
  CHECK(parts.own(overwritten).impl() == overwritten.impl()); // every process overwrites it
  CHECK(parts.cut(large, Shape{20, 10}) == Shape{64});
  const Tensor cut = parts.cut(large, Tensor(numbers, {20, 10}));
  CHECK(cut.to_vector<float>() == std::vector<float>(numbers.begin() + 64, numbers.begin() + 128));
  const Variable slot(cut), other(Tensor::ones({3}));
  parts.addSlot(slot, large, Shape{20, 10});
  CHECK(parts.isCut(slot));
  CHECK(!parts.isCut(other));
  CHECK(parts.wholeShape(slot) == Shape{20, 10});
  CHECK(parts.wholeShape(other) == Shape{3});
  CHECK(parts.whole(other, other.value()).size() == 3);
  const auto errorOf = [](const std::function<void()> &call) -> std::string {
    try {
      call();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  for (const std::string &error :
       {errorOf([&] { (void)parts.whole(slot, cut); }), errorOf([&] { parts.requireWhole(); })})
    CHECK_THAT(error,
               Catch::Contains("RuntimeError") && Catch::Contains("is split among 3 processes, and process 1 cannot"));
}
