// Attention with bf16 pairs and with AMX tiles: extents that end inside a tile, and subnormal numbers.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "tests/compiler/KernelHarness.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using halftone::testing::KernelHarness;
using halftone::testing::targetsOfGroups;

namespace {

/// Numbers of queries and keys, depth, width. Two query heads share a key head.
struct Extents {
  int64_t t, s, h, e;
  bool causal = false;
};

std::string replaced(std::string text, const Extents &extents) {
  const std::pair<std::string, std::string> words[] = {
      {"QUERIES", fmt::format("tensor<1x{}x2x{}xbf16>", extents.t, extents.h)},
      {"KEYS", fmt::format("tensor<1x{}x1x{}xbf16>", extents.s, extents.h)},
      {"VALUES", fmt::format("tensor<1x{}x1x{}xbf16>", extents.s, extents.e)},
      {"OUT", fmt::format("tensor<1x{}x2x{}xbf16>", extents.t, extents.e)},
      {"ROWS", fmt::format("tensor<1x2x{}xf32>", extents.t)},
      {"CAUSAL", extents.causal ? "causal, " : ""}};
  for (const auto &[word, other] : words)
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + other.size()))
      text.replace(at, word.size(), other);
  return text;
}

std::string forward(const Extents &extents) {
  return replaced(R"(
halftone.kernel attention @k (QUERIES, KEYS, VALUES) -> (OUT, ROWS) {
^bb0(%q: QUERIES, %k: KEYS, %v: VALUES):
  %out, %lse = halftone.attention %q, %k, %v {CAUSALscale = 0.25 : f64} : (QUERIES, KEYS, VALUES) -> (OUT, ROWS)
  halftone.yield %out, %lse : OUT, ROWS
})",
                  extents);
}

std::string backward(const Extents &extents) {
  return replaced(R"(
halftone.kernel attention_grad @k (QUERIES, KEYS, VALUES, ROWS, OUT, ROWS) -> (QUERIES, KEYS, VALUES) {
^bb0(%q: QUERIES, %k: KEYS, %v: VALUES, %lse: ROWS, %g: OUT, %delta: ROWS):
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %g, %delta {CAUSALscale = 0.25 : f64} : (QUERIES, KEYS, VALUES, ROWS, OUT, ROWS) -> (QUERIES, KEYS, VALUES)
  halftone.yield %by_q, %by_k, %by_v : QUERIES, KEYS, VALUES
})",
                  extents);
}

// Attention with fewer queries and keys takes another path.
const Extents all[] = {{64, 80, 16, 8}, {129, 33, 24, 40, true}, {130, 37, 15, 17}, {1, 130, 64, 32},
                       {100, 60, 2, 3}, {110, 40, 32, 16, true}, {97, 113, 32, 33}};

} // namespace

TEST_CASE("Attention by pairs and by tiles is right at all extents", "[kernels]") {
  for (const std::string &target : targetsOfGroups())
    for (const Extents &extents : all)
      for (const bool isGradient : {false, true}) {
        INFO(target << " " << extents.t << " " << extents.s << " " << extents.h << " " << extents.e << " "
                    << isGradient);
        const KernelHarness kernel(isGradient ? backward(extents) : forward(extents), target, false);
        const std::string instruction = target == "sapphirerapids" ? "tdpbf16ps" : "vdpbf16ps";
        if (extents.t > 4)
          CHECK(kernel.schedule() == "#halftone_cpu.attention<product = " + instruction + ">");
        kernel.checkInside(kernel.operands(7, false));
      }
}

TEST_CASE("Attention by pairs is refused for factors that are not bf16, and on CPUs without the instruction",
          "[kernels]") {
  const std::string zen4 = "x86_64-unknown-linux-gnu:znver4", pairs = "#halftone_cpu.attention<product = vdpbf16ps>";
  const auto of = [](std::string text, const std::string &dtype) {
    for (size_t at = text.find("bf16"); at != std::string::npos; at = text.find("bf16", at + dtype.size()))
      text.replace(at, 4, dtype);
    return text;
  };
  for (const std::string &text : {forward(all[0]), backward(all[0])}) {
    INFO(text);
    const auto refuses = [&](const std::string &dtype, const std::string &target, const std::string &expected) {
      const KernelHarness kernel(of(text, dtype), target, false);
      CHECK_THAT(kernel.refusalOf(pairs), Catch::Contains(expected));
    };
    refuses("f32", zen4, "vdpbf16ps with factors of 'f32' in memory; expected bf16 in f32");
    refuses("f16", zen4, "vdpbf16ps with factors of 'i16' in memory; expected bf16 in f32");
    refuses("bf16", "x86-64-v4", "vdpbf16ps is not a product that this CPU supports");
  }
}

TEST_CASE("Attention by pairs and by tiles keeps subnormal operands", "[kernels]") {
  for (const std::string &target : targetsOfGroups()) {
    const KernelHarness kernel(forward({110, 40, 16, 16}), target, false);
    auto operands = kernel.operands(3, false);
    for (double &value : operands[2].low) // the values, whose mean is subnormal
      value = 0x1p-130;
    operands[2].high = operands[2].low;
    kernel.checkInside(operands);
  }
}

TEST_CASE("Attention widens f16 where it copies a tile, and not where it multiplies", "[kernels]") {
  for (const bool isGradient : {false, true}) {
    std::string text = isGradient ? backward(all[0]) : forward(all[0]);
    for (size_t at = text.find("bf16"); at != std::string::npos; at = text.find("bf16", at))
      text.replace(at, 4, "f16");
    const KernelHarness kernel(text, "x86-64-v3", false);
    const CpuTarget cpu = CpuTarget::find("x86-64-v3").valueOrThrow();
    KernelCompiler compiler(cpu);
    KernelDumps dumps, ofProducts;
    REQUIRE(compiler.compile(kernel.linalgText(), &dumps).status().isOk());
    CHECK(dumps.assembly.find("vcvtph2ps") != std::string::npos);
    const auto products = std::ranges::find_if(compiler.cores(), [](const auto &each) {
      return each.second.symbol.starts_with("halftone_core_tile_products_multiply_add_fused_");
    });
    REQUIRE(products != compiler.cores().end());
    REQUIRE(KernelCompiler(cpu).compile(products->second, &ofProducts).status().isOk());
    CHECK(ofProducts.assembly.find("vfmadd") != std::string::npos);
    CHECK(ofProducts.assembly.find("vcvtph2ps") == std::string::npos);
  }
}
