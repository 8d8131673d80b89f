// Products by a right operand that may underflow: when slices of it are scaled, and the sums that result.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::targetsOfGroups;

namespace {

struct Product {
  int64_t m = 20, n = 70, k = 1100;
  std::string element = "f32";
  bool rhsTransposed = false, addsBias = false;
};

std::string textOf(const Product &of) {
  const std::string a = fmt::format("tensor<{}x{}x{}>", of.k, of.m, of.element),
                    b = of.rhsTransposed ? fmt::format("tensor<{}x{}x{}>", of.n, of.k, of.element)
                                         : fmt::format("tensor<{}x{}x{}>", of.k, of.n, of.element),
                    y = fmt::format("tensor<{}x{}xf32>", of.m, of.n);
  return fmt::format("halftone.kernel matmul @k ({0}, {1}, {2}) -> ({2})\n    attributes {{spec = "
                     "#halftone.blocks<tile = [16, 64]>}} {{\n"
                     "^bb0(%x: {0}, %w: {1}, %z: {2}):\n"
                     "  %p = halftone.contract %x, %w {{halftone.vanishes, lhs_contract = array<i64: 0>, rhs_contract "
                     "= array<i64: {3}>}}\n"
                     "      : ({0}, {1}) -> {2}\n  %s = halftone.add %p, %z : {2}\n  halftone.yield {4} : {2}\n}}\n",
                     a, b, y, int(of.rhsTransposed), of.addsBias ? "%s" : "%p");
}

std::string scheduleOf(const Product &of, const std::string &target, bool strict = false) {
  return KernelHarness(textOf(of), target, strict).schedule();
}
bool scales(const std::string &schedule) { return schedule.find("scales = true") != std::string::npos; }

/// On each CPU a product of f32, and a product of bf16 in pairs, in AMX tiles or widened.
std::vector<std::pair<Product, std::string>> kernels() {
  std::vector<std::pair<Product, std::string>> all;
  for (const std::string &target : runnableTargets())
    for (const char *element : {"f32", "bf16"})
      all.push_back({{.element = element}, target});
  for (const std::string &target : targetsOfGroups())
    all.push_back({{.element = "bf16"}, target});
  return all;
}

void fill(TensorData &tensor, size_t begin, size_t end, double value) {
  for (size_t i = begin; i < end; ++i)
    tensor.low[i] = tensor.high[i] = value;
}

} // namespace

TEST_CASE("Parts of a stack of a loop's are scaled where f32 is summed in rows, never in strict mode", "[kernels]") {
  for (const std::string target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids"}) {
    INFO(target);
    CHECK(scales(scheduleOf({}, target)));
    CHECK(scales(scheduleOf({.m = 1, .n = 1, .k = 3}, target)) == scales(scheduleOf({.m = 20, .n = 1}, target)));
    CHECK_FALSE(scales(scheduleOf({}, target, true)));
    CHECK_FALSE(scales(scheduleOf({.rhsTransposed = true}, target)));
  }
  for (const char *target : {"x86-64-v3", "x86_64-unknown-linux-gnu:znver4", "sapphirerapids"})
    CHECK(scales(scheduleOf({.element = "bf16"}, target)));
  const KernelHarness turned(textOf({.rhsTransposed = true}), "x86-64-v3", false);
  CHECK_THAT(turned.refusalOf("#halftone_cpu.matmul<scales = true>"),
             Catch::Contains("expected sums of f32 and a right operand in rows"));
}

TEST_CASE("Products that are all below the least number add up as if they were not", "[kernels]") {
  // 2^-150 rounds to 0 in f32; 2^-140 is not representable in bf16.
  for (const auto &[of, target] : kernels()) {
    INFO(target << " " << of.element);
    const double small = of.element == "f32" ? 0x1p-140 : 0x1p-131, factor = of.element == "f32" ? 0x1p-10 : 0x1p-19;
    const KernelHarness kernel(textOf(of), target, false);
    std::vector<TensorData> operands = kernel.operands(1, false);
    fill(operands[0], 0, operands[0].low.size(), factor);
    fill(operands[1], 0, operands[1].low.size(), -small);
    const std::vector<TensorData> sums = kernel.run(operands);
    CHECK(std::ranges::all_of(sums[0].low, [](double each) { return each == -1100 * 0x1p-150; }));
    // Parts of K have at most 1536 pairs.
    fill(operands[1], size_t((of.k - 100) * of.n), operands[1].low.size(), 0x1p-3);
    const std::vector<TensorData> mixed = kernel.run(operands);
    CHECK(std::ranges::all_of(mixed[0].low, [&](double each) { return each == 100 * factor * 0x1p-3; }));
  }
}

TEST_CASE("Sums of vanishing numbers lie in their intervals, and infinities and NaN stay", "[kernels]") {
  for (const auto &[first, target] : kernels())
    for (const Product &of :
         {first, Product{.m = 1, .n = 1, .k = 1}, Product{.m = 3, .n = 65, .k = 513},
          Product{.m = 33, .n = 16, .k = 600, .addsBias = true}, Product{.m = 20, .n = 1, .k = 40},
          Product{.m = 33, .n = 40, .k = 601, .element = "bf16", .addsBias = true}, Product{.m = 17, .n = 5, .k = 0}}) {
      INFO(target << " " << of.m << "x" << of.n << "x" << of.k);
      const KernelHarness kernel(textOf(of), target, false);
      for (const double scale : {2.0, 0x1p-70, 0x1p-110, 0x1p-135}) {
        std::vector<TensorData> operands = kernel.operands(7, false), tiny = kernel.operands(8, false, scale);
        operands[1] = tiny[1];
        kernel.checkInside(operands);
        if (of.k < 2)
          continue;
        fill(operands[1], 0, size_t(of.n), 0);
        fill(operands[0], 0, 1, INFINITY);
        fill(operands[0], size_t(of.m), size_t(of.m) + 1, 0x1p127);
        kernel.checkInside(operands);
        fill(operands[1], size_t(of.n), size_t(of.n) + 1, NAN);
        kernel.checkInside(operands);
      }
    }
}
