// Shapes of sums, operands in runs, and panels of weights on each CPU.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulInstruction.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("A kernel is read in runs of K if these are whole vectors and few tiles of rows transpose them",
          "[targets]") {
  const auto reads = [](const char *target, DType dtype, int64_t rows, int64_t run) {
    auto cpu = CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    return readsDepthInRuns(*cpu, dtype, rows, run);
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

TEST_CASE("Two vectors of columns, and packed windows, are summed for many rows at a time", "[targets]") {
  const auto isTall = [](const char *target, MatmulTraits traits) {
    auto cpu = CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    return sumsTall(*cpu, traits, chooseProduct(*cpu, traits));
  };
  const auto columns = [](int64_t count) {
    return MatmulTraits{DType::float32, DType::float32, DType::float32, 64, count};
  };
  CHECK(isTall("x86-64-v4", columns(32)));
  CHECK(!isTall("x86-64-v4", columns(64)));
  CHECK(!isTall("x86-64-v4", columns(16)));
  CHECK(!isTall("x86-64-v3", columns(32))); // sixteen registers
  MatmulTraits window = columns(64);
  window.window = true;
  CHECK(!isTall("x86-64-v4", window)); // a gradient by the kernel
  window.lhsAlongDepth = true;
  CHECK(isTall("x86-64-v4", window));
}

TEST_CASE("Weights of four bits share bytes in panels where a product reads them so", "[targets]") {
  auto packs = [](const char *target, DType lhs, int64_t k, int64_t n) {
    return halfBytePanels(*CpuTarget::find(target), lhs, k, n).has_value();
  };
  constexpr const char *zen4 = "x86_64-unknown-linux-gnu:znver4";
  const auto panels = halfBytePanels(*CpuTarget::find(zen4), DType::int8, 784, 512);
  REQUIRE(panels);
  CHECK(panels->columns == 16);
  CHECK(panels->group == 8);
  CHECK(panels->bits == 4);
  CHECK(packs(zen4, DType::float32, 784, 512));
  CHECK(packs("x86-64-v4", DType::float32, 784, 512));
  CHECK(packs("sapphirerapids", DType::bfloat16, 784, 512));
  CHECK_FALSE(packs("sapphirerapids", DType::int8, 784, 512)); // tiles want whole bytes
  CHECK_FALSE(packs("x86-64-v4", DType::int8, 784, 512));
  CHECK_FALSE(packs("x86-64-v3", DType::float32, 784, 512));
  CHECK_FALSE(packs(zen4, DType::float64, 784, 512));
  CHECK_FALSE(packs(zen4, DType::float32, 780, 512)); // half a word is left over
  CHECK_FALSE(packs(zen4, DType::float32, 784, 520)); // half a panel is left over
  CHECK_FALSE(packs(zen4, DType::float32, 64, 16));   // too small
}

TEST_CASE("Weights are kept in panels where those make products faster", "[targets]") {
  auto packs = [](const char *target, DType weight, int64_t k, int64_t n, bool strict = false) {
    auto cpu = CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    return weightPanels(*cpu, strict, weight, k, n).has_value();
  };
  constexpr const char *zen5 = "x86_64-unknown-linux-gnu:znver5";
  const auto panels = weightPanels(*CpuTarget::find(zen5), false, DType::bfloat16, 784, 512);
  REQUIRE(panels);
  CHECK(panels->columns == 16);
  CHECK(panels->group == 2);
  CHECK_FALSE(packs(zen5, DType::bfloat16, 784, 512, true));
  CHECK_FALSE(packs(zen5, DType::float16, 784, 512));
  CHECK_FALSE(packs(zen5, DType::float32, 784, 512));
  CHECK_FALSE(packs(zen5, DType::bfloat16, 783, 512));       // an odd index of K is left over
  CHECK_FALSE(packs(zen5, DType::bfloat16, 784, 520));       // half a panel is left over
  CHECK_FALSE(packs(zen5, DType::bfloat16, 64, 16));         // too small
  CHECK(packs("sapphirerapids", DType::bfloat16, 784, 512)); // for tiles, and pairs with few rows
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86_64-unknown-linux-gnu:cooperlake"})
    CHECK_FALSE(packs(target, DType::bfloat16, 784, 512));
  for (const char *target : {zen5, "sapphirerapids", "x86_64-unknown-linux-gnu:cooperlake"}) {
    const auto fours = weightPanels(*CpuTarget::find(target), true, DType::int8, 784, 512); // exact: strict mode too
    REQUIRE(fours);
    CHECK(fours->columns == 16);
    CHECK(fours->group == 4);
    CHECK_FALSE(packs(target, DType::int8, 782, 512));
    CHECK_FALSE(packs(target, DType::uint8, 784, 512));
  }
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    CHECK_FALSE(packs(target, DType::int8, 784, 512));
}
