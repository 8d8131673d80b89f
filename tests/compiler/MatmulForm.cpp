// Compares contractions of many layouts, with prologues, epilogues and partial reductions, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::targetsOfGroups;

namespace {

void checkInside(const std::string &text, const std::vector<std::string> &targets = runnableTargets()) {
  for (const std::string &target : targets)
    for (bool strict : {false, true}) {
      CAPTURE(target, strict, text);
      KernelHarness kernel(text, target, strict);
      kernel.checkInside(kernel.operands(21, false));
    }
}

std::string dense(int64_t m, int64_t n, int64_t k, const std::string &type) {
  return fmt::format(R"(
halftone.kernel matmul @k (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>, tensor<{1}x{3}>) -> (tensor<{0}x{1}x{3}>, tensor<{0}x{1}xi1>)
    attributes {{spec = #halftone.blocks<tile = [24, 32]>}} {{
^bb0(%x: tensor<{0}x{2}x{3}>, %w: tensor<{2}x{1}x{3}>, %b: tensor<{1}x{3}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
      : (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>) -> tensor<{0}x{1}x{3}>
  %1 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<{1}x{3}> to tensor<{0}x{1}x{3}>
  %2 = halftone.add %0, %1 : tensor<{0}x{1}x{3}>
  %z = halftone.constant dense<0.0> : tensor<{0}x{1}x{3}>
  %3 = halftone.maximum %2, %z : tensor<{0}x{1}x{3}>
  %4 = halftone.compare gt %2, %z : tensor<{0}x{1}x{3}>
  halftone.yield %3, %4 : tensor<{0}x{1}x{3}>, tensor<{0}x{1}xi1>
}})",
                     m, n, k, type);
}

} // namespace

TEST_CASE("a dense layer with bias and relu stays within its bounds on every target", "[kernels]") {
  for (auto [m, n, k] :
       {std::tuple<int64_t, int64_t, int64_t>{8, 5, 4}, {1, 1, 1}, {1, 10, 33}, {31, 1, 7}, {50, 70, 300}})
    for (const char *type : {"f32", "f16", "bf16", "f64"}) {
      // If a sum may have either sign, the comparison is undecided, so this case compares values only.
      std::string text = dense(m, n, k, type);
      for (const std::string &target : runnableTargets()) {
        CAPTURE(target, m, n, k, type);
        KernelHarness kernel(text, target, false);
        auto operands = kernel.operands(5, false);
        for (auto &operand : operands)
          for (double &value : operand.low)
            value = std::abs(value);
        for (auto &operand : operands)
          operand.high = operand.low;
        kernel.checkInside(operands);
      }
    }
}

TEST_CASE("transposed and batched contractions stay within their bounds", "[kernels]") {
  checkInside(R"(
halftone.kernel matmul @k (tensor<17x9xf16>, tensor<17x33xf16>) -> (tensor<9x33xf32>) {
^bb0(%x: tensor<17x9xf16>, %dy: tensor<17x33xf16>):
  %0 = halftone.contract %x, %dy {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
      : (tensor<17x9xf16>, tensor<17x33xf16>) -> tensor<9x33xf32>
  halftone.yield %0 : tensor<9x33xf32>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<17x33xbf16>, tensor<9x33xbf16>) -> (tensor<17x9xbf16>) {
^bb0(%dy: tensor<17x33xbf16>, %w: tensor<9x33xbf16>):
  %0 = halftone.contract %dy, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
      : (tensor<17x33xbf16>, tensor<9x33xbf16>) -> tensor<17x9xbf16>
  halftone.yield %0 : tensor<17x9xbf16>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<2x7x3x8xf32>, tensor<2x5x3x8xf32>) -> (tensor<2x3x7x5xf32>) {
^bb0(%q: tensor<2x7x3x8xf32>, %k: tensor<2x5x3x8xf32>):
  %0 = halftone.contract %q, %k {lhs_batch = array<i64: 0, 2>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>}
      : (tensor<2x7x3x8xf32>, tensor<2x5x3x8xf32>) -> tensor<2x3x7x5xf32>
  halftone.yield %0 : tensor<2x3x7x5xf32>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<6x4x5xf32>, tensor<5x4x11xf32>) -> (tensor<6x11xf32>) {
^bb0(%x: tensor<6x4x5xf32>, %w: tensor<5x4x11xf32>):
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 1, 0>}
      : (tensor<6x4x5xf32>, tensor<5x4x11xf32>) -> tensor<6x11xf32>
  halftone.yield %0 : tensor<6x11xf32>
})");
  checkInside(R"(
halftone.kernel matmul @k (tensor<40xf32>, tensor<40xf32>) -> (tensor<f32>) {
^bb0(%x: tensor<40xf32>, %y: tensor<40xf32>):
  %0 = halftone.contract %x, %y {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
      : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  halftone.yield %0 : tensor<f32>
})");
}

TEST_CASE("Integer contractions are exact", "[kernels]") {
  for (const std::string &target : runnableTargets()) {
    KernelHarness kernel(R"(
halftone.kernel matmul @k (tensor<19x70xi8>, tensor<70x35xi8>) -> (tensor<19x35xi32>) {
^bb0(%x: tensor<19x70xi8>, %w: tensor<70x35xi8>):
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<19x70xi8>, tensor<70x35xi8>) -> tensor<19x35xi32>
  halftone.yield %0 : tensor<19x35xi32>
})",
                         target, false);
    kernel.checkExact(kernel.operands(1, false));
  }
}

TEST_CASE("Prologues cast and scale, epilogues reduce by tile", "[kernels]") {
  checkInside(R"(
halftone.kernel matmul @k (tensor<30x12xf32>, tensor<12x40xf32>, tensor<f32>, tensor<30x40xf16>)
    -> (tensor<30x40xf16>, tensor<3x40xf32>, tensor<3x2xi1>) attributes {spec = #halftone.blocks<tile = [12, 32]>} {
^bb0(%x: tensor<30x12xf32>, %w: tensor<12x40xf32>, %scale: tensor<f32>, %other: tensor<30x40xf16>):
  %s = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<30x12xf32>
  %xs = halftone.mul %x, %s : tensor<30x12xf32>
  %xn = halftone.cast %xs {origin = "layer input"} : tensor<30x12xf32> to tensor<30x12xf16>
  %wn = halftone.cast %w {origin = "variable read"} : tensor<12x40xf32> to tensor<12x40xf16>
  %0 = halftone.contract %xn, %wn {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<30x12xf16>, tensor<12x40xf16>) -> tensor<30x40xf16>
  %1 = halftone.add %0, %other : tensor<30x40xf16>
  %n = halftone.cast %1 {origin = "layer output"} : tensor<30x40xf16> to tensor<30x40xf16>
  %p = halftone.partial_reduce sum %n {axes = array<i64: 0>, tile = array<i64: 12>} : tensor<30x40xf16> -> tensor<3x40xf32>
  %f = halftone.is_finite %n : tensor<30x40xf16>
  %q = halftone.partial_reduce and %f {axes = array<i64: 0, 1>, tile = array<i64: 12, 32>} : tensor<30x40xi1> -> tensor<3x2xi1>
  halftone.yield %n, %p, %q : tensor<30x40xf16>, tensor<3x40xf32>, tensor<3x2xi1>
})");
}

TEST_CASE("Results are stored with their axes in another order, beside others and partial reductions", "[kernels]") {
  // Products of heads: b, t and n, h are swapped. Sums over all but the last axes keep the order of the product.
  for (const char *type : {"f32", "bf16", "f64"})
    checkInside(fmt::format(R"(
halftone.kernel matmul @k (tensor<3x5x24x{0}>, tensor<24x4x20x{0}>, tensor<4x20x{0}>)
    -> (tensor<3x4x5x20x{0}>, tensor<3x5x4x20x{0}>, tensor<4x3x5x20xi1>) {{
^bb0(%x: tensor<3x5x24x{0}>, %w: tensor<24x4x20x{0}>, %b: tensor<4x20x{0}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}}
      : (tensor<3x5x24x{0}>, tensor<24x4x20x{0}>) -> tensor<3x5x4x20x{0}>
  %1 = halftone.broadcast %b {{axes = array<i64: 2, 3>}} : tensor<4x20x{0}> to tensor<3x5x4x20x{0}>
  %2 = halftone.add %0, %1 : tensor<3x5x4x20x{0}>
  %3 = halftone.cast %2 {{origin = "layer output"}} : tensor<3x5x4x20x{0}> to tensor<3x5x4x20x{0}>
  %4 = halftone.transpose %3 {{permutation = array<i64: 0, 2, 1, 3>}} : tensor<3x5x4x20x{0}> to tensor<3x4x5x20x{0}>
  %5 = halftone.is_finite %3 : tensor<3x5x4x20x{0}>
  %6 = halftone.transpose %5 {{permutation = array<i64: 2, 0, 1, 3>}} : tensor<3x5x4x20xi1> to tensor<4x3x5x20xi1>
  halftone.yield %4, %3, %6 : tensor<3x4x5x20x{0}>, tensor<3x5x4x20x{0}>, tensor<4x3x5x20xi1>
}})",
                            type));
  checkInside(R"(
halftone.kernel matmul @k (tensor<2x30x12xf32>, tensor<2x12x40xf32>) -> (tensor<30x2x40xf32>, tensor<2x3x2xi1>)
    attributes {spec = #halftone.blocks<tile = [12, 32]>} {
^bb0(%x: tensor<2x30x12xf32>, %w: tensor<2x12x40xf32>):
  %0 = halftone.contract %x, %w {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>}
      : (tensor<2x30x12xf32>, tensor<2x12x40xf32>) -> tensor<2x30x40xf32>
  %f = halftone.is_finite %0 : tensor<2x30x40xf32>
  %p = halftone.partial_reduce and %f {axes = array<i64: 0, 1, 2>, tile = array<i64: 1, 12, 32>} : tensor<2x30x40xi1> -> tensor<2x3x2xi1>
  %t = halftone.transpose %0 {permutation = array<i64: 1, 0, 2>} : tensor<2x30x40xf32> to tensor<30x2x40xf32>
  halftone.yield %t, %p : tensor<30x2x40xf32>, tensor<2x3x2xi1>
})");
}

TEST_CASE("Partial reductions see the rows of a product, which are several axes, as one", "[kernels]") {
  // Tiles end within rows of the second axis; the last tile has one row. The rows of a convolution are output
  // positions.
  for (const std::string type : {"f32", "bf16", "f64"}) {
    const std::string text = fmt::format(R"(
halftone.kernel matmul @k (tensor<3x7x5x2x{0}>, tensor<3x3x2x20x{0}>, tensor<20x{0}>)
    -> (tensor<3x5x5x20x{0}>, tensor<7x20x{1}>, tensor<7x1xi1>) attributes {{spec = #halftone.blocks<tile = [12, 32]>}} {{
^bb0(%x: tensor<3x7x5x2x{0}>, %w: tensor<3x3x2x20x{0}>, %b: tensor<20x{0}>):
  %0 = halftone.window %x {{stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 0, 1>, hole = array<i64: 1, 1>}}
      : tensor<3x7x5x2x{0}> to tensor<3x5x5x3x3x2x{0}>
  %3 = halftone.contract %0, %w {{lhs_contract = array<i64: 3, 4, 5>, rhs_contract = array<i64: 0, 1, 2>}}
      : (tensor<3x5x5x3x3x2x{0}>, tensor<3x3x2x20x{0}>) -> tensor<3x5x5x20x{0}>
  %4 = halftone.broadcast %b {{axes = array<i64: 3>}} : tensor<20x{0}> to tensor<3x5x5x20x{0}>
  %5 = halftone.sub %3, %4 : tensor<3x5x5x20x{0}>
  %6 = halftone.cast %5 {{origin = "layer output"}} : tensor<3x5x5x20x{0}> to tensor<3x5x5x20x{0}>
  %7 = halftone.reshape %6 : tensor<3x5x5x20x{0}> to tensor<75x20x{0}>
  %p = halftone.partial_reduce sum %7 {{axes = array<i64: 0>, tile = array<i64: 12>}} : tensor<75x20x{0}> -> tensor<7x20x{1}>
  %8 = halftone.is_finite %6 : tensor<3x5x5x20x{0}>
  %9 = halftone.reshape %8 : tensor<3x5x5x20xi1> to tensor<75x20xi1>
  %q = halftone.partial_reduce and %9 {{axes = array<i64: 0, 1>, tile = array<i64: 12, 32>}} : tensor<75x20xi1> -> tensor<7x1xi1>
  halftone.yield %6, %p, %q : tensor<3x5x5x20x{0}>, tensor<7x20x{1}>, tensor<7x1xi1>
}})",
                                         type, type == "f64" ? "f64" : "f32");
    checkInside(text);
    if (type == "bf16")
      checkInside(text, targetsOfGroups());
  }
}

TEST_CASE("Axes of extent 1 and 0 in a result that is stored in another order", "[kernels]") {
  for (auto [b, m, n] : {std::tuple<int64_t, int64_t, int64_t>{1, 7, 5}, {3, 1, 5}, {3, 7, 1}, {1, 1, 1}, {0, 7, 5}})
    checkInside(fmt::format(R"(
halftone.kernel matmul @k (tensor<{0}x{1}x9xf32>, tensor<9x{2}xf32>) -> (tensor<{1}x{0}x{2}xf32>) {{
^bb0(%x: tensor<{0}x{1}x9xf32>, %w: tensor<9x{2}xf32>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}}
      : (tensor<{0}x{1}x9xf32>, tensor<9x{2}xf32>) -> tensor<{0}x{1}x{2}xf32>
  %1 = halftone.transpose %0 {{permutation = array<i64: 1, 0, 2>}} : tensor<{0}x{1}x{2}xf32> to tensor<{1}x{0}x{2}xf32>
  halftone.yield %1 : tensor<{1}x{0}x{2}xf32>
}})",
                            b, m, n));
}

TEST_CASE("Several dims of M and of N keep the instruction, several dims of K do not", "[kernels]") {
  const auto takesPairs = [](const std::string &text) {
    const std::string schedule = KernelHarness(text, "x86_64-unknown-linux-gnu:znver4", false).schedule();
    return schedule.find("product = vdpbf16ps") != std::string::npos;
  };
  const auto heads = [](const char *contracted, const char *lhs, const char *rhs) {
    return fmt::format(R"(
halftone.kernel matmul @k (tensor<3x5x24x16xbf16>, tensor<24x16x20xbf16>) -> (tensor<{0}xf32>) {{
^bb0(%x: tensor<3x5x24x16xbf16>, %w: tensor<24x16x20xbf16>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: {1}>, rhs_contract = array<i64: {2}>}}
      : (tensor<3x5x24x16xbf16>, tensor<24x16x20xbf16>) -> tensor<{0}xf32>
  halftone.yield %0 : tensor<{0}xf32>
}})",
                       contracted, lhs, rhs);
  };
  const std::string rows = heads("3x5x24x24x20", "3", "1"), depth = heads("3x5x20", "2, 3", "0, 1"),
                    apart = heads("3x5x20", "3, 2", "1, 0");
  CHECK(takesPairs(rows));
  CHECK(takesPairs(depth)); // adjacent axes form one dim
  CHECK_FALSE(takesPairs(apart));
  checkInside(rows);
  checkInside(depth);
  checkInside(apart);
}
