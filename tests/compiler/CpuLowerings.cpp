// What kernels for each CPU read: K in contiguous runs, channels in groups, packed weights.
// SPDX-License-Identifier: Apache-2.0
#include "CompiledFunction.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("A kernel is read in runs of K if these are whole vectors and few tiles of rows transpose them",
          "[targets]") {
  const auto reads = [](const char *target, DType dtype, int64_t rows, int64_t run) {
    return targetNamed(target).lowerings().readsDepthInRuns(dtype, rows, run);
  };
  const char *zen = "x86_64-unknown-linux-gnu:znver4";
  CHECK(reads(zen, DType::float32, 784, 48));
  CHECK(!reads(zen, DType::float32, 784, 40));
  CHECK(reads("x86-64-v3", DType::float32, 784, 40));
  CHECK(!reads(zen, DType::float32, 50000, 48));
  CHECK(reads(zen, DType::bfloat16, 784, 64));
  CHECK(!reads(zen, DType::bfloat16, 784, 48)); // pairs
  CHECK(!reads("x86-64-v4", DType::bfloat16, 784, 64));
  CHECK(!reads("sapphirerapids", DType::bfloat16, 784, 64)); // tiles take one dim of K
}

TEST_CASE("K of several axes is joined where only one axis is multiplied in tiles", "[targets]") {
  const auto joins = [](const char *target, DType dtype, int64_t products) {
    MatmulTraits traits{dtype, dtype, DType::float32, 64, 64, 64};
    traits.splitDepth = true;
    return targetNamed(target).lowerings().joinsDepth(traits, products);
  };
  CHECK(joins("sapphirerapids", DType::bfloat16, 64));
  CHECK(!joins("sapphirerapids", DType::bfloat16, 63));
  CHECK(!joins("sapphirerapids", DType::float32, 64));
  CHECK(!joins("x86-64-v4", DType::bfloat16, 64));
}

TEST_CASE("Groups of few channels are summed where a vector holds one or several", "[targets]") {
  const CpuTarget v2 = targetNamed("x86-64-v2"), v3 = targetNamed("x86-64-v3"), v4 = targetNamed("x86-64-v4");
  CHECK(v2.lowerings().sumsGroups(DType::float32, 2, 2));
  CHECK(v2.lowerings().sumsGroups(DType::float32, 4, 4));
  CHECK_FALSE(v2.lowerings().sumsGroups(DType::float32, 8, 8));
  CHECK(v3.lowerings().sumsGroups(DType::float32, 4, 4));
  CHECK(v3.lowerings().sumsGroups(DType::float64, 4, 4));
  CHECK_FALSE(v3.lowerings().sumsGroups(DType::float64, 8, 8));
  CHECK(v4.lowerings().sumsGroups(DType::float32, 1, 8));
  CHECK(v4.lowerings().sumsGroups(DType::bfloat16, 8, 8));
  CHECK(v4.lowerings().sumsGroups(DType::float32, 16, 16));
  CHECK(v4.lowerings().sumsGroups(DType::float32, 4, 16));
  CHECK_FALSE(v3.lowerings().sumsGroups(DType::float32, 16, 8));   // too many accumulators for the registers
  CHECK_FALSE(v4.lowerings().sumsGroups(DType::bfloat16, 16, 16)); // contractions use pairs
  CHECK_FALSE(v4.lowerings().sumsGroups(DType::float32, 3, 3));
  CHECK_FALSE(v4.lowerings().sumsGroups(DType::float32, 8, 4));
  CHECK_FALSE(v4.lowerings().sumsGroups(DType::float32, 4, 1));
}

TEST_CASE("Weights of four bits share bytes in panels where a product reads them so", "[targets]") {
  auto packs = [](const char *target, DType lhs, int64_t k, int64_t n) {
    return targetNamed(target).lowerings().halfBytePanels(lhs, k, n).has_value();
  };
  constexpr const char *zen4 = "x86_64-unknown-linux-gnu:znver4";
  const auto panels = targetNamed(zen4).lowerings().halfBytePanels(DType::int8, 784, 512);
  REQUIRE(panels);
  CHECK(panels->columns == 16);
  CHECK(panels->group == 8);
  CHECK(panels->bits == 4);
  CHECK(packs(zen4, DType::float32, 784, 512));
  CHECK(packs("x86-64-v4", DType::float32, 784, 512));
  CHECK(packs("sapphirerapids", DType::bfloat16, 784, 512));
  CHECK_FALSE(packs("sapphirerapids", DType::int8, 784, 512)); // AMX tiles need whole bytes
  CHECK_FALSE(packs("x86-64-v4", DType::int8, 784, 512));
  CHECK_FALSE(packs("x86-64-v3", DType::float32, 784, 512));
  CHECK_FALSE(packs(zen4, DType::float64, 784, 512));
  CHECK_FALSE(packs(zen4, DType::float32, 780, 512)); // half a word is left over
  CHECK_FALSE(packs(zen4, DType::float32, 784, 520)); // half a panel is left over
  CHECK_FALSE(packs(zen4, DType::float32, 64, 16));   // too small
}

TEST_CASE("Weights are kept in panels where those make products faster", "[targets]") {
  auto packs = [](const char *target, DType weight, int64_t k, int64_t n, compiler::Numerics numerics = {}) {
    return targetNamed(target).lowerings().weightPanels(numerics, weight, k, n).has_value();
  };
  constexpr const char *zen5 = "x86_64-unknown-linux-gnu:znver5";
  const auto panels = targetNamed(zen5).lowerings().weightPanels(compiler::Numerics::fast(), DType::bfloat16, 784, 512);
  REQUIRE(panels);
  CHECK(panels->columns == 16);
  CHECK(panels->group == 2);
  CHECK_FALSE(packs(zen5, DType::bfloat16, 784, 512, compiler::Numerics::strict()));
  CHECK_FALSE(packs(zen5, DType::float16, 784, 512));
  CHECK_FALSE(packs(zen5, DType::float32, 784, 512));
  CHECK_FALSE(packs(zen5, DType::bfloat16, 783, 512));       // an odd index of K is left over
  CHECK_FALSE(packs(zen5, DType::bfloat16, 784, 520));       // half a panel is left over
  CHECK_FALSE(packs(zen5, DType::bfloat16, 64, 16));         // too small
  CHECK(packs("sapphirerapids", DType::bfloat16, 784, 512)); // for AMX tiles, and for pairs with few rows
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86_64-unknown-linux-gnu:cooperlake"})
    CHECK_FALSE(packs(target, DType::bfloat16, 784, 512));
  for (const char *target : {zen5, "sapphirerapids", "x86_64-unknown-linux-gnu:cooperlake"}) {
    const auto fours = targetNamed(target).lowerings().weightPanels(compiler::Numerics::strict(), DType::int8, 784,
                                                                    512); // exact, so in strict mode too
    REQUIRE(fours);
    CHECK(fours->columns == 16);
    CHECK(fours->group == 4);
    CHECK_FALSE(packs(target, DType::int8, 782, 512));
    CHECK_FALSE(packs(target, DType::uint8, 784, 512));
  }
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    CHECK_FALSE(packs(target, DType::int8, 784, 512));
}
