// Products that multiply several indices of K at a time: when they are chosen, all layouts, and values they would lose.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::targetsOfGroups;

namespace {

const std::string zen = "x86_64-unknown-linux-gnu:znver4";

struct Layout {
  bool lhsTransposed = false, rhsTransposed = false, batched = false;
  bool fromF32 = false; // the operands are f32; the kernel casts them
  std::string result = "bf16";
};

std::string product(int64_t m, int64_t n, int64_t k, const Layout &layout) {
  const std::string batch = layout.batched ? "2x" : "", element = layout.fromF32 ? "f32" : "bf16";
  const std::string a = batch + (layout.lhsTransposed ? fmt::format("{}x{}x", k, m) : fmt::format("{}x{}x", m, k)),
                    b = batch + (layout.rhsTransposed ? fmt::format("{}x{}x", n, k) : fmt::format("{}x{}x", k, n)),
                    y = fmt::format("tensor<{}{}x{}x{}>", batch, m, n, layout.result);
  const int first = layout.batched;
  std::string text = fmt::format(
      "halftone.kernel matmul @k (tensor<{0}{2}>, tensor<{1}{2}>) -> ({3})\n"
      "    attributes {{spec = #halftone.blocks<tile = [24, 64]>}} {{\n^bb0(%x: tensor<{0}{2}>, %w: tensor<{1}{2}>):\n",
      a, b, element, y);
  if (layout.fromF32)
    text += fmt::format("  %xn = halftone.cast %x {{origin = \"layer input\"}} : tensor<{0}f32> to tensor<{0}bf16>\n"
                        "  %wn = halftone.cast %w {{origin = \"variable read\"}} : tensor<{1}f32> to tensor<{1}bf16>\n",
                        a, b);
  const std::string axes = layout.batched ? "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, " : "";
  text += fmt::format(
      "  %0 = halftone.contract {0}, {1} {{{2}lhs_contract = array<i64: {3}>, rhs_contract = array<i64: {4}>}}\n"
      "      : (tensor<{5}bf16>, tensor<{6}bf16>) -> {7}\n  halftone.yield %0 : {7}\n}}\n",
      layout.fromF32 ? "%xn" : "%x", layout.fromF32 ? "%wn" : "%w", axes, first + (layout.lhsTransposed ? 0 : 1),
      first + (layout.rhsTransposed ? 1 : 0), a, b, y);
  return text;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (int bits = 0; bits < 16; ++bits)
    all.push_back({bool(bits & 1), bool(bits & 2), bool(bits & 4), bool(bits & 8), bits & 1 ? "f32" : "bf16"});
  return all;
}

void set(TensorData &tensor, size_t index, double value) { tensor.low[index] = tensor.high[index] = value; }

} // namespace

TEST_CASE("Pairs are taken where the instruction is fast, never in strict mode", "[kernels]") {
  const std::string text = product(40, 70, 33, {});
  const auto chosen = [&](const std::string &target, bool strict) {
    return KernelHarness(text, target, strict).schedule();
  };
  CHECK(chosen(zen, false) == "#halftone_cpu.matmul<product = vdpbf16ps>");
  CHECK(chosen(zen, true) == "#halftone_cpu.matmul");
  CHECK(chosen("x86-64-v4", false) == "#halftone_cpu.matmul");
  CHECK(KernelHarness(product(40, 70, 34, {}), zen, false).schedule() ==
        "#halftone_cpu.matmul<product = vdpbf16ps, depth = even>");

  for (const auto &[target, instruction] :
       {std::pair{zen, "vdpbf16ps"}, std::pair{std::string("x86-64-v4"), "vfmadd"}}) {
    auto cpu = compiler::CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    compiler::KernelDumps dumps;
    compiler::KernelCompiler compiler(*cpu);
    // A kernel that calls a function other than a core does not compile.
    REQUIRE(compiler.compile(KernelHarness(text, target, false).linalgText(), &dumps).isOk());
    std::string assembly = dumps.assembly;
    for (const auto &[key, core] : std::map(compiler.cores())) {
      REQUIRE(compiler.compile(core, &dumps).isOk());
      assembly += dumps.assembly;
    }
    CHECK(assembly.find(instruction) != std::string::npos);
  }
}

TEST_CASE("products of pairs are right in all layouts and ragged extents", "[kernels][full]") {
  struct Size {
    int64_t m, n, k;
  };
  for (const std::string &target : targetsOfGroups())
    for (const Layout &layout : layouts())
      for (const Size &size : {Size{20, 30, 1}, {33, 70, 37}, {19, 150, 600}}) {
        if (!target.starts_with("x86_64-") && layout.batched == layout.fromF32)
          continue; // emulation is slow
        const std::string text = product(size.m, size.n, size.k, layout);
        CAPTURE(target, text);
        KernelHarness kernel(text, target, false);
        kernel.checkInside(kernel.operands(3, false));
        kernel.checkInside(kernel.operands(4, true));
      }
}

TEST_CASE("Pairs keep subnormal operands", "[kernels][full]") {
  const double tiny = 0x1p-130, large = 0x1p120;
  const int64_t m = 33, n = 70;
  for (const std::string &target : targetsOfGroups())
    for (const Layout &layout : layouts()) {
      if (!target.starts_with("x86_64-") && layout.batched == layout.fromF32)
        continue; // emulation is slow
      // One part of K whose packed rows serve two blocks, or two parts. The extent is even, so that rows that are
      // neither transposed nor cast are read in place.
      const int64_t k = (layout.batched ? 701 : 1101) + !layout.lhsTransposed;
      KernelHarness kernel(product(m, n, k, layout), target, false);
      CAPTURE(target, kernel.linalgText());
      const auto at = [&](bool transposed, int64_t rows, int64_t columns, int64_t row, int64_t column) {
        return size_t(transposed ? column * rows + row : row * columns + column);
      };
      // At the ends of K and at the end of a part of K, one operand is subnormal and the other one makes the product
      // normal.
      for (int64_t depth : {int64_t(0), std::min<int64_t>(1023, k - 3), k - 1})
        for (bool onLeft : {true, false})
          for (double other : {large, double(INFINITY)}) {
            std::vector<TensorData> operands = kernel.operands(1, false, 0);
            set(operands[0], at(layout.lhsTransposed, m, k, m - 1, depth), onLeft ? -tiny : other);
            set(operands[1], at(layout.rhsTransposed, k, n, depth, n - 1), onLeft ? other : -tiny);
            const double got = kernel.run(operands)[0].low[size_t(m * n - 1)];
            CHECK(got == -tiny * other);
          }
    }
}

TEST_CASE("Sums below the smallest normal number may become 0, not more", "[kernels]") {
  for (const std::string &target : targetsOfGroups()) {
    KernelHarness kernel(product(20, 30, 40, {.result = "f32"}), target, false);
    std::vector<TensorData> operands = kernel.operands(1, false, 0x1p-64);
    CAPTURE(target);
    kernel.checkInside(operands);
    // One more lost product would exceed these bounds.
    const std::vector<TensorData> bounds = kernel.interpret(operands, true), exact = kernel.interpret(operands, false);
    for (size_t i = 0; i < exact[0].low.size(); ++i)
      CHECK(bounds[0].high[i] - bounds[0].low[i] <= 2.1 * 40 * 0x1p-126);
  }
}

TEST_CASE("products of int8 are exact in all layouts and ragged extents", "[kernels][full]") {
  struct Size {
    int64_t m, n, k;
  };
  for (const std::string &target : targetsOfGroups())
    for (int bits = 0; bits < 4; ++bits)
      for (const Size &size : {Size{1, 1, 1}, {20, 30, 5}, {33, 70, 67}, {40, 100, 2100}}) {
        const bool lhsTransposed = bits & 1, rhsTransposed = bits & 2, strict = size.k == 67;
        if (!target.starts_with("x86_64-") && size.k > 1000 && (lhsTransposed || !rhsTransposed))
          continue; // emulation is slow
        const auto type = [](int64_t rows, int64_t columns, bool transposed) {
          return transposed ? fmt::format("tensor<{}x{}xi8>", columns, rows)
                            : fmt::format("tensor<{}x{}xi8>", rows, columns);
        };
        const std::string text = fmt::format(
            "halftone.kernel matmul @k ({0}, {1}) -> (tensor<{2}x{3}xi32>)\n"
            "    attributes {{spec = #halftone.blocks<tile = [36, 128]>}} {{\n^bb0(%x: {0}, %w: {1}):\n"
            "  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: {4}>, rhs_contract = array<i64: {5}>}}\n"
            "      : ({0}, {1}) -> tensor<{2}x{3}xi32>\n  halftone.yield %0 : tensor<{2}x{3}xi32>\n}}\n",
            type(size.m, size.k, lhsTransposed), type(size.k, size.n, rhsTransposed), size.m, size.n,
            lhsTransposed ? 0 : 1, rhsTransposed ? 1 : 0);
        CAPTURE(target, text);
        KernelHarness kernel(text, target, strict);
        CHECK((kernel.linalgText().find("tdpbssd") != std::string::npos) == (target == "sapphirerapids"));
        kernel.checkExact(kernel.operands(7, false));
      }
}
