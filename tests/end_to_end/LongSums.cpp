// Compares long sums, and products with long sums, which are split into parts, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

TEMPLATE_TEST_CASE("Long sums of few products compute what the interpreter says", "", Host, Full<V2>, Full<V3>,
                   Full<V4>, Zen4) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  check(longSumCases(16384), TestType::target, false);
  check(longSumCases(12312), TestType::target, false); // summed in three parts
  checkProgram(longSumProgram(16384), TestType::target, false, 1);
}

TEMPLATE_TEST_CASE("Sums of equal numbers keep their digits", "", Host, Full<V2>, V3, Full<V4>) {
  if (!TestType::runs()) {
    WARN(TestType::target << " does not run here");
    return;
  }
  checkEqualSums(TestType::target, false);
  checkEqualSums(TestType::target, true);
}

/// The gradient of a convolution by its kernel, which sums over 10000 output positions.
static std::string kernelGradient() {
  return R"(func.func @main(%x: tensor<4x50x50x1x2xf32> {halftone.name = "x"}, %dy: tensor<4x50x50x1x3xf32> {halftone.name = "dy"})
    -> (tensor<3x3x1x2x3xf32> {halftone.name = "dw"}) {
  %0 = halftone.transpose %x {permutation = array<i64: 4, 1, 2, 3, 0>} : tensor<4x50x50x1x2xf32> to tensor<2x50x50x1x4xf32>
  %1 = halftone.transpose %dy {permutation = array<i64: 1, 2, 3, 0, 4>} : tensor<4x50x50x1x3xf32> to tensor<50x50x1x4x3xf32>
  %2 = halftone.convolution %0, %1 {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<2x50x50x1x4xf32>, tensor<50x50x1x4x3xf32>) -> tensor<2x3x3x1x3xf32>
  %3 = halftone.transpose %2 {permutation = array<i64: 1, 2, 3, 0, 4>} : tensor<2x3x3x1x3xf32> to tensor<3x3x1x2x3xf32>
  return %3 : tensor<3x3x1x2x3xf32>
})";
}

TEST_CASE("Parts of a long sum over places read the window in place") {
  checkProgram(kernelGradient(), "host", false, 1);
  checkProgram(kernelGradient(), "host", true, 1);
}

TEST_CASE("A product of a window that sums over nothing stays whole") {
  checkProgram(R"(func.func @main(%x: tensor<2x5x1xf32> {halftone.name = "x"}, %v: tensor<3xf32> {halftone.name = "v"})
    -> (tensor<2x4x2x1x3xf32> {halftone.name = "y"}) {
  %0 = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : tensor<2x5x1xf32> to tensor<2x4x2x1xf32>
  %1 = halftone.contract %0, %v {lhs_contract = array<i64>, rhs_contract = array<i64>} : (tensor<2x4x2x1xf32>, tensor<3xf32>) -> tensor<2x4x2x1x3xf32>
  return %1 : tensor<2x4x2x1x3xf32>
})",
               "host", false, 1);
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
