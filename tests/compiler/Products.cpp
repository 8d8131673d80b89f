// The product that each CPU chooses, and kernel traits that exclude products.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/Products.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone;
using namespace halftone::compiler;

namespace {

std::string chosen(const std::string &target, const MatmulTraits &traits) {
  auto cpu = CpuTarget::find(target.starts_with("x86-64-") ? target : "x86_64-unknown-linux-gnu:" + target);
  REQUIRE(cpu.isOk());
  const ProductRow &product = chooseProduct(*cpu, traits);
  CHECK(findProduct(*cpu, product.product) == &product);
  return reportName(product.product).str();
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
  CHECK(chosen("cooperlake", bf16) == "multiply-add"); // vdpbf16ps has half the throughput on this CPU
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
    CHECK(chosen(target, with(bf16, &MatmulTraits::numerics, compiler::Numerics::strict())) == "multiply-add");
    CHECK(chosen(target, f16) == "multiply-add");
  }
}

TEST_CASE("a kernel that an instruction cannot take gets another instruction", "[targets]") {
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::numerics, compiler::Numerics::strict())) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::splitDepth, true)) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::rhs, DType::float16)) == "multiply-add");
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::rows, int64_t(4))) ==
        "multiply-add"); // packing would take more time
  CHECK(chosen("znver5", with(bf16, &MatmulTraits::computed, true)) == "vdpbf16ps");
  MatmulTraits panels = with(bf16, &MatmulTraits::panels, true);
  CHECK(chosen("znver5", with(panels, &MatmulTraits::rows, int64_t(1))) == "vdpbf16ps"); // already packed
  CHECK(chosen("znver5", with(panels, &MatmulTraits::splitDepth, true)) == "multiply-add");
  CHECK(chosen("sapphirerapids", panels) == "tdpbf16ps");
  CHECK(chosen("sapphirerapids", with(panels, &MatmulTraits::rows, int64_t(1))) == "vdpbf16ps");
  CHECK(chosen("znver5", with(i8, &MatmulTraits::numerics, compiler::Numerics::strict())) == "vpdpbusd"); // exact
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
  CHECK(packsAlongPositions(window(bf16, true, 3)));
  for (const char *target : {"znver5", "sapphirerapids"})
    for (const bool alongDepth : {true, false})
      CHECK(chosen(target, window(bf16, alongDepth, 3)) == "multiply-add");
}
