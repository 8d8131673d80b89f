// The table of instructions for products: the choice on each CPU, and the traits of a kernel that exclude them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulInstruction.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone;
using namespace halftone::compiler;

namespace {

std::string chosen(const std::string &target, const MatmulTraits &traits) {
  auto cpu = CpuTarget::find(target.starts_with("x86-64-") ? target : "x86_64-unknown-linux-gnu:" + target);
  REQUIRE(cpu.isOk());
  const MatmulInstruction instruction = chooseMatmulInstruction(*cpu, traits);
  CHECK(has(*cpu, instruction));
  CHECK(matmulInstructionNamed(name(instruction)) == instruction);
  return std::string(name(instruction));
}

const MatmulTraits f32{DType::float32, DType::float32, DType::float32, 64},
    bf16{DType::bfloat16, DType::bfloat16, DType::float32, 64}, f16{DType::float16, DType::float16, DType::float32, 64};
const MatmulTraits i8{
    .lhs = DType::int8, .rhs = DType::int8, .accumulator = DType::int32, .rows = 64, .lhsAlongDepth = true};

template <class Value> MatmulTraits with(MatmulTraits traits, Value MatmulTraits::*field, Value value) {
  traits.*field = value;
  return traits;
}

} // namespace

TEST_CASE("Each CPU multiplies by the instruction that is fast there", "[targets]") {
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    for (const MatmulTraits &traits : {f32, bf16, f16, i8})
      CHECK(chosen(target, traits) == "multiply-add");
  CHECK(chosen("cascadelake", i8) == "vpdpbusd");
  CHECK(chosen("cooperlake", bf16) == "multiply-add"); // vdpbf16ps runs at half speed on this CPU
  for (const char *target : {"znver4", "znver5"}) {
    CHECK(chosen(target, bf16) == "vdpbf16ps");
    CHECK(chosen(target, i8) == "vpdpbusd");
    CHECK(chosen(target, f32) == "multiply-add");
    CHECK(chosen(target, f16) == "multiply-add");
  }
  CHECK(chosen("znver3", bf16) == "multiply-add");
  for (const char *target : {"sapphirerapids", "graniterapids"}) {
    CHECK(chosen(target, bf16) == "tdpbf16ps");
    CHECK(chosen(target, i8) == "tdpbssd");
    CHECK(chosen(target, with(i8, &MatmulTraits::lhsAlongDepth, false)) == "tdpbssd");
    CHECK(chosen(target, with(bf16, &MatmulTraits::strict, true)) == "multiply-add");
    CHECK(chosen(target, f16) == "multiply-add");
  }
}

TEST_CASE("a kernel that an instruction cannot take gets another instruction", "[targets]") {
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::strict, true)) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::splitDepth, true)) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::rhs, DType::float16)) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::rows, int64_t(4))) == "multiply-add"); // packing costs more time
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::computed, true)) == "vdpbf16ps");
  MatmulTraits panels = with(bf16, &MatmulTraits::panels, true);
  CHECK(chosen("znver5", with(panels, &MatmulTraits::rows, int64_t(1))) == "vdpbf16ps"); // is packed already
  CHECK(chosen("znver5", with(panels, &MatmulTraits::splitDepth, true)) == "multiply-add");
  CHECK(chosen("sapphirerapids", panels) == "tdpbf16ps");
  CHECK(chosen("sapphirerapids", with(panels, &MatmulTraits::rows, int64_t(1))) == "vdpbf16ps");
  CHECK(chosen("znver5", with(i8, &MatmulTraits::strict, true)) == "vpdpbusd"); // exact
  CHECK(chosen("znver5", with(i8, &MatmulTraits::computed, true)) == "multiply-add");
  CHECK(chosen("znver5", with(i8, &MatmulTraits::lhsAlongDepth, false)) == "multiply-add");
  CHECK(chosen("znver5", with(i8, &MatmulTraits::lhs, DType::uint8)) == "multiply-add");
}

TEST_CASE("Several dims of K are multiplied in pairs if a vector of pairs lies in one run of the last", "[targets]") {
  const MatmulTraits several = with(bf16, &MatmulTraits::splitDepth, true);
  CHECK(chosen("znver5", with(several, &MatmulTraits::depthRun, int64_t(64))) == "vdpbf16ps");
  CHECK(chosen("znver5", with(several, &MatmulTraits::depthRun, int64_t(48))) == "multiply-add");
  CHECK(chosen("sapphirerapids", with(several, &MatmulTraits::depthRun, int64_t(64))) == "multiply-add");
}

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
    return sumsTall(*cpu, traits, chooseMatmulInstruction(*cpu, traits));
  };
  const MatmulTraits few = with(f32, &MatmulTraits::columns, int64_t(32)),
                     many = with(f32, &MatmulTraits::columns, int64_t(64));
  CHECK(isTall("x86-64-v4", few));
  CHECK(!isTall("x86-64-v4", many));
  CHECK(!isTall("x86-64-v4", with(f32, &MatmulTraits::columns, int64_t(16))));
  CHECK(!isTall("x86-64-v3", few)); // sixteen registers
  MatmulTraits window = with(many, &MatmulTraits::window, true);
  CHECK(!isTall("x86-64-v4", window)); // a gradient by the kernel
  window.lhsAlongDepth = true;
  CHECK(isTall("x86-64-v4", window));
}

TEST_CASE("Windows are packed in groups along their rows, in pairs also across, but not along places", "[targets]") {
  const auto window = [](MatmulTraits traits, bool alongDepth, int64_t channels) {
    traits.window = true;
    traits.lhsAlongDepth = alongDepth;
    traits.windowRun = 3 * channels, traits.windowPitch = channels, traits.windowLine = 28;
    return traits;
  };
  CHECK(chosen("znver5", window(bf16, true, 16)) == "vdpbf16ps");
  CHECK(chosen("znver5", window(bf16, false, 16)) == "vdpbf16ps");
  CHECK(chosen("znver5", window(i8, true, 16)) == "vpdpbusd");
  CHECK(chosen("sapphirerapids", window(bf16, true, 16)) == "tdpbf16ps");
  CHECK(chosen("sapphirerapids", window(bf16, false, 16)) == "tdpbf16ps");
  CHECK(chosen("sapphirerapids", window(i8, true, 16)) == "tdpbssd");
  CHECK(chosen("sapphirerapids", window(i8, false, 16)) == "multiply-add");
  CHECK(packsAlongPlaces(window(bf16, true, 3)));
  for (const char *target : {"znver5", "sapphirerapids"})
    for (const bool alongDepth : {true, false})
      CHECK(chosen(target, window(bf16, alongDepth, 3)) == "multiply-add");
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
