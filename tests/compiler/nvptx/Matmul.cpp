// Compares products on the emulated GPU with the interpreter: layouts, edges, dtypes, tiles, epilogues, batches.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <limits>

using halftone::dialect::TensorData;
using halftone::testing::GpuLaunch;
using halftone::testing::KernelHarness;

namespace {

constexpr const char *target = "sm_80";

struct Sizes {
  int64_t m, n, k;
};

/// A product in one kernel: A is m x k, or k x m if transposed; B is k x n or n x k.
struct Case {
  Sizes sizes;
  bool transposesA = false, transposesB = false;
  std::string factor = "f32", result = "f32";
  int64_t tile = 0; // rows and columns; 0: the target chooses
};

std::string matrix(int64_t rows, int64_t columns, const std::string &element) {
  return fmt::format("tensor<{}x{}x{}>", rows, columns, element);
}

std::string specOf(int64_t tile) {
  return tile > 0 ? fmt::format(" attributes {{spec = #halftone.blocks<tile = [{0}, {0}]>}}", tile) : "";
}

std::string textOf(const Case &c) {
  const auto [m, n, k] = c.sizes;
  const std::string a = c.transposesA ? matrix(k, m, c.factor) : matrix(m, k, c.factor),
                    b = c.transposesB ? matrix(n, k, c.factor) : matrix(k, n, c.factor), r = matrix(m, n, c.result);
  return fmt::format(R"(
halftone.kernel matmul @k ({0}, {1}) -> ({2}){3} {{
^bb0(%x: {0}, %y: {1}):
  %0 = halftone.contract %x, %y {{lhs_contract = array<i64: {4}>, rhs_contract = array<i64: {5}>}} : ({0}, {1}) -> {2}
  halftone.yield %0 : {2}
}})",
                     a, b, r, specOf(c.tile), c.transposesA ? 0 : 1, c.transposesB ? 1 : 0);
}

enum class Bound { interval, exact };

/// Compares with the interpreter: its bits, or its intervals. `specials`: also NaN, infinities and zeros of both signs.
void check(const std::string &text, bool strict, Bound bound, bool specials = false) {
  CAPTURE(text, strict, specials);
  KernelHarness kernel(text, target, strict);
  const auto operands = kernel.operands(7, specials, specials ? 1e-3 : 2.0);
  if (bound == Bound::exact)
    kernel.checkExact(operands);
  else
    kernel.checkInside(operands);
}

/// Strict code gives the same bits on all targets; any NaN equals any NaN.
void checkBitsOfCpu(const std::string &text, bool specials) {
  CAPTURE(text, specials);
  const KernelHarness gpu(text, target, true), cpu(text, "x86-64-v2", true);
  const auto operands = gpu.operands(7, specials, specials ? 1e-3 : 2.0);
  const auto got = gpu.run(operands), expected = cpu.run(operands);
  for (size_t result = 0; result < got.size(); ++result)
    for (size_t i = 0; i < got[result].low.size(); ++i) {
      const double a = got[result].low[i], e = expected[result].low[i];
      const bool same = std::isnan(a) ? std::isnan(e) : a == e && std::signbit(a) == std::signbit(e);
      if (!same)
        FAIL_CHECK("result " << result << " element " << i << ": " << a << ", expected " << e);
    }
}

/// {NN, NT, TN, TT}: each operand plain and transposed.
std::vector<Case> ordersOf(Case c) {
  std::vector<Case> orders;
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      c.transposesA = transposesA, c.transposesB = transposesB;
      orders.push_back(c);
    }
  return orders;
}

void checkOrders(const Case &c, bool strict, Bound bound, bool specials = false) {
  for (const Case &order : ordersOf(c))
    check(textOf(order), strict, bound, specials);
}

/// A dense layer: bias, relu, a second result of another dtype, partial reductions over rows and over all elements.
std::string denseOf(const Case &c) {
  const auto [m, n, k] = c.sizes;
  const int64_t rowTiles = (m + c.tile - 1) / c.tile, columnTiles = (n + c.tile - 1) / c.tile;
  return fmt::format(R"(
halftone.kernel matmul @k (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>, tensor<{1}x{3}>, tensor<{0}x{1}x{3}>)
    -> (tensor<{0}x{1}x{3}>, tensor<{0}x{1}xf32>, tensor<{5}x{1}xf32>, tensor<{5}x{6}xi1>)
    attributes {{spec = #halftone.blocks<tile = [{4}, {4}]>}} {{
^bb0(%x: tensor<{0}x{2}x{3}>, %w: tensor<{2}x{1}x{3}>, %b: tensor<{1}x{3}>, %other: tensor<{0}x{1}x{3}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
      : (tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>) -> tensor<{0}x{1}x{3}>
  %1 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<{1}x{3}> to tensor<{0}x{1}x{3}>
  %2 = halftone.add %0, %1 : tensor<{0}x{1}x{3}>
  %z = halftone.constant dense<0.0> : tensor<{0}x{1}x{3}>
  %3 = halftone.maximum %2, %z : tensor<{0}x{1}x{3}>
  %4 = halftone.add %3, %other : tensor<{0}x{1}x{3}>
  %n = halftone.cast %4 {{origin = "layer output"}} : tensor<{0}x{1}x{3}> to tensor<{0}x{1}x{3}>
  %c = halftone.cast %n {{origin = "layer output"}} : tensor<{0}x{1}x{3}> to tensor<{0}x{1}xf32>
  %p = halftone.partial_reduce sum %n {{axes = array<i64: 0>, tile = array<i64: {4}>}} : tensor<{0}x{1}x{3}> -> tensor<{5}x{1}xf32>
  %f = halftone.is_finite %n : tensor<{0}x{1}x{3}>
  %q = halftone.partial_reduce and %f {{axes = array<i64: 0, 1>, tile = array<i64: {4}, {4}>}} : tensor<{0}x{1}xi1> -> tensor<{5}x{6}xi1>
  halftone.yield %n, %c, %p, %q : tensor<{0}x{1}x{3}>, tensor<{0}x{1}xf32>, tensor<{5}x{1}xf32>, tensor<{5}x{6}xi1>
}})",
                     m, n, k, c.factor, c.tile, rowTiles, columnTiles);
}

/// Returns true if the schedule of a product names `instruction`.
bool isMadeBy(const std::string &instruction, const Case &c, bool strict) {
  const std::string start = "#halftone_nvptx.mma<product = " + instruction + ",";
  return KernelHarness(textOf(c), target, strict).schedule().starts_with(start);
}

void fill(TensorData &tensor, int64_t value) { std::fill(tensor.integers.begin(), tensor.integers.end(), value); }

} // namespace

TEST_CASE("f32 products of all operand orders stay within their bounds at ragged edges", "[kernels]") {
  for (const Sizes &sizes : {Sizes{1, 1, 1}, {1, 37, 40}, {33, 1, 5}, {7, 33, 5}, {33, 7, 40}, {40, 48, 64}})
    checkOrders({sizes}, false, Bound::interval);
}

TEST_CASE("Strict products of narrow floats have the interpreter's bits", "[kernels]") {
  for (const char *type : {"bf16", "f16"})
    checkOrders({{13, 36, 19}, false, false, type, type}, true, Bound::exact);
  check(textOf({{77, 131, 33}, false, true, "bf16", "f32", 128}), true, Bound::exact);
}

// The interpreter rounds once for a product and its addition; strict code rounds twice.
TEST_CASE("Strict products of floats have the bits of a CPU's", "[kernels]") {
  for (const char *type : {"f32", "f64", "bf16"})
    for (bool specials : {false, true})
      for (const Case &order : ordersOf({{13, 36, 19}, false, false, type, type}))
        checkBitsOfCpu(textOf(order), specials);
  for (const Sizes &sizes : {Sizes{130, 40, 24}, {77, 131, 33}})
    checkBitsOfCpu(textOf({sizes, false, true, "f32", "f32", 128}), false);
}

TEST_CASE("Products of f64 and of f8 stay within their bounds", "[kernels]") {
  checkOrders({{34, 9, 21}, false, false, "f64", "f64"}, false, Bound::interval);
  checkOrders({{34, 9, 21}, false, false, "f8E4M3FN", "f32"}, false, Bound::interval);
}

TEST_CASE("Products of narrow floats by mma.sync stay within their bounds at ragged edges", "[kernels]") {
  for (const char *type : {"f16", "bf16"}) {
    const Case c{{40, 48, 64}, false, false, type, "f32"};
    CHECK(isMadeBy(std::string("mma_m16n8k16_") + type, c, false));
    CHECK_FALSE(isMadeBy(std::string("mma_m16n8k16_") + type, c, true));
    for (const Sizes &sizes : {Sizes{1, 40, 64}, {7, 33, 5}, {40, 48, 70}, {24, 16, 200}})
      checkOrders({sizes, false, false, type, "f32"}, false, Bound::interval);
  }
}

TEST_CASE("Products of i8 are exact in i32", "[kernels]") {
  for (bool strict : {false, true}) {
    CHECK(isMadeBy("mma_m16n8k32_s8", {{32, 48, 64}, false, false, "i8", "i32"}, strict));
    for (const Sizes &sizes : {Sizes{1, 1, 1}, {7, 33, 5}, {33, 7, 140}, {32, 48, 64}})
      checkOrders({sizes, false, false, "i8", "i32"}, strict, Bound::exact);
  }
}

TEST_CASE("Products of the largest and smallest i8 are exact", "[kernels]") {
  for (const Case &order : ordersOf({{16, 24, 96}, false, false, "i8", "i32"}))
    for (int64_t a : {-128, 127})
      for (int64_t b : {-128, 127}) {
        KernelHarness kernel(textOf(order), target, false);
        auto operands = kernel.operands(1, false);
        fill(operands[0], a), fill(operands[1], b);
        CHECK(kernel.run(operands)[0].integers == std::vector<int64_t>(16 * 24, a * b * 96));
      }
}

TEST_CASE("Products of other integers are exact, and wrap", "[kernels]") {
  for (const auto &[factor, result] : {std::pair{"i32", "i32"}, {"i64", "i64"}})
    checkOrders({{9, 34, 37}, false, false, factor, result}, false, Bound::exact);
}

TEST_CASE("f32 products of 200 x 136 x 104 stay within their bounds", "[kernels]") {
  checkOrders({{200, 136, 104}}, false, Bound::interval);
}

TEST_CASE("Products of narrow floats of 200 x 136 x 104 stay within their bounds", "[kernels]") {
  for (const char *type : {"f16", "bf16"})
    checkOrders({{200, 136, 104}, false, false, type, "f32", 128}, false, Bound::interval);
}

TEST_CASE("Products of i8 of 200 x 136 x 104 are exact", "[kernels]") {
  for (int64_t tile : {64, 128})
    checkOrders({{200, 136, 104}, false, false, "i8", "i32", tile}, false, Bound::exact);
}

TEST_CASE("Tiles of all sizes give the same products", "[kernels]") {
  for (const char *type : {"f32", "bf16"})
    for (int64_t tile : {32, 64, 128})
      for (const Sizes &sizes : {Sizes{100, 136, 104}, {70, 33, 67}})
        check(textOf({sizes, false, tile == 64, type, "f32", tile}), false, Bound::interval);
}

TEST_CASE("A tile that is no power of two is computed in a larger one", "[kernels]") {
  for (const char *type : {"f32", "f16"})
    check(textOf({{50, 40, 24}, true, false, type, type, 12}), false, Bound::interval);
}

TEST_CASE("Epilogues with several results and partial reductions stay within their bounds", "[kernels]") {
  for (const char *type : {"f32", "f16"})
    for (int64_t tile : {32, 64})
      for (const Sizes &sizes : {Sizes{70, 41, 19}, {48, 72, 32}})
        check(denseOf({sizes, false, false, type, type, tile}), false, Bound::interval);
}

// A thread finishes eight columns, whose sums are in two or four parts of 16 bytes.
TEST_CASE("Results narrower than their sums, and sums of their columns, stay within their bounds", "[kernels]") {
  for (const auto &[factor, result, stored] : {std::tuple{"f32", "f32", "f16"},
                                               {"f32", "f32", "f8E5M2"},
                                               {"f64", "f64", "f32"},
                                               {"f64", "f64", "f16"},
                                               {"f16", "f32", "bf16"}})
    for (const int64_t tile : {32, 64})
      check(fmt::format(R"(
halftone.kernel matmul @k (tensor<40x20x{0}>, tensor<20x72x{0}>) -> (tensor<40x72x{2}>, tensor<{5}x72x{3}>)
    attributes {{spec = #halftone.blocks<tile = [{4}, {4}]>}} {{
^bb0(%x: tensor<40x20x{0}>, %w: tensor<20x72x{0}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
      : (tensor<40x20x{0}>, tensor<20x72x{0}>) -> tensor<40x72x{1}>
  %1 = halftone.cast %0 {{origin = "layer output"}} : tensor<40x72x{1}> to tensor<40x72x{2}>
  %p = halftone.partial_reduce sum %0 {{axes = array<i64: 0>, tile = array<i64: {4}>}} : tensor<40x72x{1}> -> tensor<{5}x72x{3}>
  halftone.yield %1, %p : tensor<40x72x{2}>, tensor<{5}x72x{3}>
}})",
                        factor, result, stored, std::string(result) == "f64" ? "f64" : "f32", tile,
                        (40 + tile - 1) / tile),
            false, Bound::interval);
}

TEST_CASE("Operands pass through prologues that cast and scale", "[kernels]") {
  for (int64_t k : {12, 21, 64})
    check(fmt::format(R"(
halftone.kernel matmul @k (tensor<30x{0}xf32>, tensor<{0}x40xf32>, tensor<f32>) -> (tensor<30x40xf16>) {{
^bb0(%x: tensor<30x{0}xf32>, %w: tensor<{0}x40xf32>, %scale: tensor<f32>):
  %s = halftone.broadcast %scale {{axes = array<i64>}} : tensor<f32> to tensor<30x{0}xf32>
  %xs = halftone.mul %x, %s : tensor<30x{0}xf32>
  %xn = halftone.cast %xs {{origin = "layer input"}} : tensor<30x{0}xf32> to tensor<30x{0}xf16>
  %wn = halftone.cast %w {{origin = "variable read"}} : tensor<{0}x40xf32> to tensor<{0}x40xf16>
  %0 = halftone.contract %xn, %wn {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}}
      : (tensor<30x{0}xf16>, tensor<{0}x40xf16>) -> tensor<30x40xf16>
  halftone.yield %0 : tensor<30x40xf16>
}})",
                      k),
          false, Bound::interval);
}

TEST_CASE("Batched products, and those of several axes a role, stay within their bounds", "[kernels]") {
  for (const char *type : {"f32", "bf16"}) {
    check(fmt::format(R"(
halftone.kernel matmul @k (tensor<2x7x3x8x{0}>, tensor<2x5x3x8x{0}>) -> (tensor<2x3x7x5xf32>) {{
^bb0(%q: tensor<2x7x3x8x{0}>, %k: tensor<2x5x3x8x{0}>):
  %0 = halftone.contract %q, %k {{lhs_batch = array<i64: 0, 2>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>}}
      : (tensor<2x7x3x8x{0}>, tensor<2x5x3x8x{0}>) -> tensor<2x3x7x5xf32>
  halftone.yield %0 : tensor<2x3x7x5xf32>
}})",
                      type),
          false, Bound::interval);
    check(fmt::format(R"(
halftone.kernel matmul @k (tensor<6x4x5x{0}>, tensor<5x4x11x{0}>) -> (tensor<6x11xf32>) {{
^bb0(%x: tensor<6x4x5x{0}>, %w: tensor<5x4x11x{0}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 1, 0>}}
      : (tensor<6x4x5x{0}>, tensor<5x4x11x{0}>) -> tensor<6x11xf32>
  halftone.yield %0 : tensor<6x11xf32>
}})",
                      type),
          false, Bound::interval);
    check(fmt::format(R"(
halftone.kernel matmul @k (tensor<40x{0}>, tensor<40x{0}>) -> (tensor<f32>) {{
^bb0(%x: tensor<40x{0}>, %y: tensor<40x{0}>):
  %0 = halftone.contract %x, %y {{lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}}
      : (tensor<40x{0}>, tensor<40x{0}>) -> tensor<f32>
  halftone.yield %0 : tensor<f32>
}})",
                      type),
          false, Bound::interval);
  }
}

TEST_CASE("A product over no index of K is zero", "[kernels]") {
  for (const char *type : {"f32", "bf16"})
    check(textOf({{5, 9, 0}, false, false, type, "f32"}), false, Bound::exact);
}

TEST_CASE("Strict products with epilogues stay within their bounds", "[kernels]") {
  for (const char *type : {"f32", "f16"})
    check(denseOf({{50, 41, 19}, false, false, type, type, 64}), true, Bound::interval);
}

TEST_CASE("NaN, infinities and zeros of both signs give what the interpreter allows", "[kernels]") {
  for (const char *type : {"f32", "f16", "bf16"})
    for (const Sizes &sizes : {Sizes{35, 33, 6}, {40, 48, 24}})
      checkOrders({sizes, false, false, type, "f32"}, false, Bound::interval, /*specials=*/true);
}

TEST_CASE("A NaN past the end of a row of K reaches no sum", "[kernels]") {
  // Rows of K end within an asynchronous copy of the stage; the memory after them is the next row.
  for (const char *type : {"f32", "bf16"})
    for (int64_t k : {24, 21}) {
      const Case c{{40, 48, k}, false, true, type, "f32"};
      CAPTURE(type, k);
      KernelHarness kernel(textOf(c), target, false);
      auto operands = kernel.operands(5, false);
      for (TensorData *operand : {&operands[0], &operands[1]})
        for (int64_t depth = 0; depth < k; ++depth)
          operand->low[size_t(k + depth)] = operand->high[size_t(k + depth)] = std::numeric_limits<double>::quiet_NaN();
      const std::vector<double> product = kernel.run(operands)[0].low;
      for (size_t i = 0; i < product.size(); ++i)
        CHECK(std::isnan(product[i]) == (i / 48 == 1 || i % 48 == 1));
    }
}

TEST_CASE("Products are right in every order of warps and of copies", "[kernels]") {
  for (const auto &[factor, result, tile] :
       {std::tuple{"f32", "f32", 32}, {"f32", "f32", 64}, {"bf16", "f32", 64}, {"f16", "f16", 32}, {"i8", "i32", 32}})
    for (int64_t k : {70, 320}) {
      const KernelHarness kernel(textOf({{70, 72, k}, k == 70, false, factor, result, tile}), target, false);
      CAPTURE(factor, tile, k);
      const auto operands = kernel.operands(3, false);
      const TensorData expected = kernel.interpret(operands, true)[0];
      GpuLaunch launch{
          kernel.code(), {}, {expected.toBytes().size()}, kernel.description().extents, kernel.description().grid};
      for (const TensorData &operand : operands)
        launch.operands.push_back(operand.toBytes());
      for (unsigned seed : {1u, 2u, 3u}) {
        const TensorData got = TensorData::fromBytes(expected.type, runOnGpu(launch, 0, seed)[0].data());
        int64_t inside = 0;
        for (int64_t i = 0; i < got.size(); ++i)
          inside += expected.contains(got, i);
        CHECK(inside == got.size());
      }
    }
}

TEST_CASE("Sums of every mma.sync are f32 or i32", "[kernels]") {
  for (const auto &[factor, result, types] : {std::tuple{"f16", "f16", ".f32.f16.f16.f32"},
                                              {"bf16", "bf16", ".f32.bf16.bf16.f32"},
                                              {"i8", "i32", ".s32.s8.s8.s32"}})
    for (int64_t tile : {32, 64, 128})
      for (const Sizes &sizes : {Sizes{40, 48, 64}, {7, 33, 5}}) {
        const KernelHarness kernel(textOf({sizes, false, false, factor, result, tile}), target, false);
        const std::string &ptx = kernel.code().code;
        int count = 0;
        for (size_t at = ptx.find("mma.sync"); at != std::string::npos; at = ptx.find("mma.sync", at + 1), ++count) {
          const std::string instruction = ptx.substr(at, ptx.find_first_of(" \t\n", at) - at);
          CHECK(instruction.ends_with(types));
        }
        CHECK(count > 0);
      }
}

TEST_CASE("Products are stored with their axes in another order", "[kernels]") {
  for (const char *type : {"f32", "f16"})
    for (const int64_t inner : {19, 24}) // elements of a row of the result: a remainder, and whole vectors
      check(fmt::format(R"(
halftone.kernel matmul @k (tensor<3x5x24x{0}>, tensor<24x4x{1}x{0}>, tensor<4x{1}x{0}>) -> (tensor<4x3x5x{1}x{0}>, tensor<3x5x4x{1}x{0}>) {{
^bb0(%x: tensor<3x5x24x{0}>, %w: tensor<24x4x{1}x{0}>, %b: tensor<4x{1}x{0}>):
  %0 = halftone.contract %x, %w {{lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}}
      : (tensor<3x5x24x{0}>, tensor<24x4x{1}x{0}>) -> tensor<3x5x4x{1}x{0}>
  %1 = halftone.broadcast %b {{axes = array<i64: 2, 3>}} : tensor<4x{1}x{0}> to tensor<3x5x4x{1}x{0}>
  %2 = halftone.add %0, %1 : tensor<3x5x4x{1}x{0}>
  %3 = halftone.transpose %2 {{permutation = array<i64: 2, 0, 1, 3>}} : tensor<3x5x4x{1}x{0}> to tensor<4x3x5x{1}x{0}>
  halftone.yield %3, %2 : tensor<4x3x5x{1}x{0}>, tensor<3x5x4x{1}x{0}>
}})",
                        type, inner),
            false, Bound::interval);
}
