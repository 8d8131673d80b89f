// Kernels with large bodies: their values and the size of their code.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::with;

namespace {

/// `count` times `%x = function(%x) + 0.5`, starting from %`name`; the last one is %`name``count`.
std::string chain(const std::string &function, int count, const std::string &name, const std::string &type) {
  std::string text = fmt::format("  %{}half = halftone.constant dense<0.5> : {}\n", name, type);
  for (int i = 0; i < count; ++i) {
    const std::string from = i == 0 ? name : fmt::format("{}{}", name, i);
    text += fmt::format("  %{0}f{1} = halftone.{2} %{3} : {4}\n  %{0}{1} = halftone.add %{0}f{1}, %{0}half : {4}\n",
                        name, i + 1, function, from, type);
  }
  return text;
}

constexpr const char *loop = R"(
halftone.kernel loop @k (tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32> {
^bb0(%x: tensor<$Mx$Nxf32>):
$X
  halftone.yield %x$C : tensor<$Mx$Nxf32>
})";

constexpr const char *transposedLoop = R"(
halftone.kernel loop @k (tensor<$Nx$Mxf32>) -> tensor<$Mx$Nxf32> {
^bb0(%a: tensor<$Nx$Mxf32>):
  %x = halftone.transpose %a {permutation = array<i64: 1, 0>} : tensor<$Nx$Mxf32> to tensor<$Mx$Nxf32>
$X
  halftone.yield %x$C : tensor<$Mx$Nxf32>
})";

constexpr const char *row = R"(
halftone.kernel row @k (tensor<$Mx$Nxf32>) -> (tensor<$Mx$Nxf32>, tensor<$Mxf32>) {
^bb0(%x: tensor<$Mx$Nxf32>):
$X
  %m = halftone.reduce max %x$C {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %b = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %y = halftone.sub %x$C, %b : tensor<$Mx$Nxf32>
$Y
  halftone.yield %y$C, %m : tensor<$Mx$Nxf32>, tensor<$Mxf32>
})";

constexpr const char *reductionLoop = R"(
halftone.kernel reduction_loop @k (tensor<$Mx$Nxf32>) -> tensor<$Nxf32> {
^bb0(%x: tensor<$Mx$Nxf32>):
$X
  %v = halftone.reduce max %x$C {axes = array<i64: 0>} : tensor<$Mx$Nxf32> -> tensor<$Nxf32>
$V
  halftone.yield %v$C : tensor<$Nxf32>
})";

constexpr const char *matmul = R"(
halftone.kernel matmul @k (tensor<$Mx8xf32>, tensor<8x$Nxf32>) -> (tensor<$Mx$Nxf32>, tensor<1x$Nxf32>)
    attributes {spec = #halftone.blocks<tile = [$M, $N]>} {
^bb0(%a: tensor<$Mx8xf32>, %b: tensor<8x$Nxf32>):
  %x = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
    : (tensor<$Mx8xf32>, tensor<8x$Nxf32>) -> tensor<$Mx$Nxf32>
$X
  %s = halftone.partial_reduce max %x$C {axes = array<i64: 0>, tile = array<i64: $M>} : tensor<$Mx$Nxf32> -> tensor<1x$Nxf32>
  halftone.yield %x$C, %s : tensor<$Mx$Nxf32>, tensor<1x$Nxf32>
})";

std::string kernelText(const std::string &form, const std::string &function, int count, int64_t m, int64_t n) {
  const std::string matrix = "tensor<$Mx$Nxf32>", vector = "tensor<$Nxf32>";
  return with(form, {{"$X", chain(function, count, "x", matrix)},
                     {"$Y", chain(function, count, "y", matrix)},
                     {"$V", chain(function, count, "v", vector)},
                     {"$C", std::to_string(count)},
                     {"$M", std::to_string(m)},
                     {"$N", std::to_string(n)}});
}

/// The code size, in bytes, of a chain of `count` functions.
double codeBytes(const std::string &form, const std::string &function, int count, const std::string &target) {
  return double(KernelHarness(kernelText(form, function, count, 16, 64), target, false).code().code.size());
}

} // namespace

TEST_CASE("Outlined functions and bodies with one copy compute what the interpreter does", "[kernels]") {
  const auto target = GENERATE(from_range(runnableTargets()));
  const auto *const form = GENERATE(loop, transposedLoop, row, reductionLoop, matmul);
  for (const bool strict : {false, true})
    for (const auto &[function, count] : {std::pair("sin", 5), {"sin", 40}, {"tanh", 60}})
      for (const auto &[m, n] : {std::pair<int64_t, int64_t>{5, 37}, {1, 3}}) {
        CAPTURE(target, form, function, count, m, n, strict);
        KernelHarness kernel(kernelText(form, function, count, m, n), target, strict);
        kernel.checkInside(kernel.operands(1, false));
      }
}

TEST_CASE("The code of a kernel grows in proportion to its ops", "[kernels]") {
  const auto *const form = GENERATE(loop, transposedLoop, row, reductionLoop, matmul);
  for (const std::string target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    for (const std::string function : {"sin", "exp", "asinh", "abs"}) {
      CAPTURE(form, target, function);
      constexpr double mostBytesOfOne = 400; // for one function and one addition, in all copies of the body
      CHECK(codeBytes(form, function, 200, target) - codeBytes(form, function, 100, target) <= 100 * mostBytesOfOne);
    }
}
