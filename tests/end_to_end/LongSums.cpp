// Compares products with long sums, which are made in parts, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

TEMPLATE_TEST_CASE("Long sums of few products compute what the interpreter says", "", Host, V2, V3, V4, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  check(longSumCases(16384), TestType::target, false);
  check(longSumCases(12312), TestType::target, false); // in three parts
  checkProgram(longSumProgram(16384), TestType::target, false, 1);
}

TEST_CASE("Strict mode keeps long sums whole and in order") {
  const std::vector<OpCase> cases = longSumCases(16384);
  const StatusOr<Comparison> comparison = compareCases({cases[0]}, "host", true);
  REQUIRE(comparison.isOk());
  CHECK(differencesOf(*comparison).empty());
  CHECK(comparison->launches.size() == 1);
  const StatusOr<Comparison> fast = compareCases({cases[0]}, "host", false);
  REQUIRE(fast.isOk());
  REQUIRE(fast->launches.size() == 2);
  CHECK_THAT(fast->launches[1].kernel, Catch::StartsWith("reduction_loop"));
}
