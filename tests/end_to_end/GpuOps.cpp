// Every op with every dtype, and random programs, compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "OpChecks.h"
#include "RandomOps.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

namespace {

/// Part `part` of `parts` of the cases, dealt in turn, so that several tests share a long table and run concurrently.
std::vector<OpCase> partOf(std::vector<OpCase> cases, size_t part, size_t parts) {
  std::vector<OpCase> chosen;
  for (size_t i = part; i < cases.size(); i += parts)
    chosen.push_back(std::move(cases[i]));
  return chosen;
}

} // namespace

TEST_CASE("A GPU's transcendental ops compute what the interpreter says") {
  checkModes<Sm80>(only(elementwiseCases("3x67x"), transcendental));
}
TEST_CASE("A GPU's comparisons compute what the interpreter says") {
  checkModes<Sm80>(only(elementwiseCases("3x67x"), {"compare", "is_finite"}));
}
TEST_CASE("A GPU's arithmetic ops compute what the interpreter says, in halves") {
  const size_t half = GENERATE(0, 1);
  checkModes<Sm80>(
      partOf(without(without(elementwiseCases("3x67x"), {"compare", "is_finite"}), transcendental), half, 2));
}
TEST_CASE("A GPU's casts compute what the interpreter says") { checkModes<Sm80>(castCases("5x23x")); }
TEST_CASE("A GPU's ops without operands compute what the interpreter says") { checkModes<Sm80>(sourceCases()); }
TEST_CASE("A GPU's shape ops compute what the interpreter says") { checkModes<Sm80>(shapeCases()); }
TEST_CASE("A GPU's slices, concatenations and lookups compute what the interpreter says") {
  checkModes<Sm80>(indexingCases());
}
TEST_CASE("A GPU's reductions compute what the interpreter says") { checkModes<Sm80>(reductionCases()); }
TEST_CASE("A GPU's sorts compute what the interpreter says") { checkModes<Sm80>(sortCases()); }
TEST_CASE("A GPU's sums along an axis compute what the interpreter says") { checkModes<Sm80>(scanCases()); }
TEST_CASE("A GPU's contractions compute what the interpreter says") { checkModes<Sm80>(contractionCases()); }
TEST_CASE("A GPU's windows compute what the interpreter says") { checkModes<Sm80>(windowCases()); }
TEST_CASE("A GPU's convolutions compute what the interpreter says") { checkModes<Sm80>(convolutionCases()); }
TEST_CASE("A GPU's attention computes what the interpreter says, first half of the cases", "[full]") {
  checkModes<Sm80>(partOf(attentionCases(), 0, 2));
}
TEST_CASE("A GPU's attention computes what the interpreter says, second half of the cases", "[full]") {
  checkModes<Sm80>(partOf(attentionCases(), 1, 2));
}

TEST_CASE("A GPU's long sums of few products, made in parts, are what the interpreter says") {
  check(longSumCases(1024), Sm80::target, false);
  check(longSumCases(1032), Sm80::target, false); // summed in three parts
  checkProgram(longSumProgram(1024), Sm80::target, false, 1);
}

TEST_CASE("A GPU's sums of equal numbers keep their digits") {
  checkEqualSums(Sm80::target, false);
  checkEqualSums(Sm80::target, true);
}

TEST_CASE("Extents of 0 and 1 on a GPU") {
  const std::string dtype = GENERATE("f32", "bf16", "i8", "i1");
  checkModes<Sm80>(degenerateCases(dtype));
}

TEST_CASE("Random programs on a GPU compute what the interpreter says") {
  REQUIRE(Sm80::runs());
  for (uint32_t i = 1; i <= 20; ++i) {
    const uint32_t seed = Catch::rngSeed() * 1000 + i; // --rng-seed selects other seeds
    checkProgram(randomOps(seed, 10 + int(seed % 3) * 15), Sm80::target, seed % 5 == 0, seed);
  }
}

TEST_CASE("A GPU's row kernel that reads two elements of one key has both") {
  checkProgram(
      R"(func.func @main(%x: tensor<8x13xf32> {halftone.name = "x"}, %key: tensor<2xui32> {halftone.name = "key"})
    -> (tensor<f32> {halftone.name = "y"}, tensor<8x13xf32> {halftone.name = "z"}) {
  %0 = halftone.random_bits %key : tensor<2xui32> -> tensor<8x13xui32>
  %1 = halftone.cast %0 : tensor<8x13xui32> to tensor<8x13xf32>
  %2 = halftone.mul %x, %1 : tensor<8x13xf32>
  %3 = halftone.reduce sum %2 {axes = array<i64: 0, 1>} : tensor<8x13xf32> -> tensor<f32>
  return %3, %2 : tensor<f32>, tensor<8x13xf32>
})",
      Sm80::target, false, 1);
}

TEST_CASE("A sum over batch and part of a row, beside a kernel of whole rows, is made on a GPU") {
  for (const char *kept : {"8x16", "16x1", "1x16", "7x3"})
    for (const bool strict : {false, true}) {
      const std::string shape = kept, columns = shape.substr(shape.find('x') + 1);
      INFO(shape);
      checkProgram(fmt::format(R"(func.func @main(%x: tensor<64x{0}xf32> {{halftone.name = "x"}})
    -> (tensor<64x{0}xf32> {{halftone.name = "y"}}, tensor<{1}xf32> {{halftone.name = "z"}}) {{
  %0 = halftone.reduce sum %x {{axes = array<i64: 1, 2>}} : tensor<64x{0}xf32> -> tensor<64xf32>
  %1 = halftone.broadcast %0 {{axes = array<i64: 0>}} : tensor<64xf32> to tensor<64x{0}xf32>
  %2 = halftone.sub %x, %1 : tensor<64x{0}xf32>
  %3 = halftone.reduce sum %2 {{axes = array<i64: 0, 1>}} : tensor<64x{0}xf32> -> tensor<{1}xf32>
  return %2, %3 : tensor<64x{0}xf32>, tensor<{1}xf32>
}})",
                               shape, columns),
                   Sm80::target, strict, 1);
    }
}
