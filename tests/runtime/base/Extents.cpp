// Sums and products of extents, at the limits of 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Extents.h"
#include <catch2/catch.hpp>
#include <vector>

using namespace halftone;

TEST_CASE("Sums and products of extents are exact, or the bound that they pass") {
  const std::vector<int64_t> numbers{
      INT64_MIN,        INT64_MIN + 1,    -(int64_t(1) << 32), -1,       0, 1, 3, int64_t(1) << 31, 3037000500,
      int64_t(1) << 32, int64_t(1) << 62, INT64_MAX - 1,       INT64_MAX};
  const auto bounded = [](__int128 exact) {
    return exact > INT64_MAX ? INT64_MAX : exact < INT64_MIN ? INT64_MIN : static_cast<int64_t>(exact);
  };
  for (const int64_t a : numbers)
    for (const int64_t b : numbers) {
      INFO(a << " and " << b);
      CHECK(extentSum(a, b) == bounded(__int128(a) + b));
      CHECK(extentProduct(a, b) == bounded(__int128(a) * b));
    }
  CHECK(extentProduct(std::vector<int64_t>{}) == 1);
  CHECK(extentProduct(std::vector<int64_t>{2, 3, 7}) == 42);
  CHECK(extentProduct(std::vector<int64_t>{int64_t(1) << 32, int64_t(1) << 32, 4}) == INT64_MAX);
}
