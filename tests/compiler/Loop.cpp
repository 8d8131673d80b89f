// Compares compiled loop kernels of several shapes with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::shapes;
using halftone::testing::with;

namespace {

constexpr const char *movement = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>, tensor<$Nx$Mx$T>, tensor<$Nx$T>, tensor<$Mx$T>, tensor<$T>)
    -> (tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>) {
^bb0(%a: tensor<$Mx$Nx$T>, %b: tensor<$Nx$Mx$T>, %row: tensor<$Nx$T>, %column: tensor<$Mx$T>, %one: tensor<$T>):
  %t = halftone.transpose %b {permutation = array<i64: 1, 0>} : tensor<$Nx$Mx$T> to tensor<$Mx$Nx$T>
  %r = halftone.broadcast %row {axes = array<i64: 1>} : tensor<$Nx$T> to tensor<$Mx$Nx$T>
  %c = halftone.broadcast %column {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %o = halftone.broadcast %one {axes = array<i64>} : tensor<$T> to tensor<$Mx$Nx$T>
  %0 = halftone.add %a, %t : tensor<$Mx$Nx$T>
  %1 = halftone.mul %r, %c : tensor<$Mx$Nx$T>
  %2 = halftone.maximum %0, %1 : tensor<$Mx$Nx$T>
  %3 = halftone.add %2, %o : tensor<$Mx$Nx$T>
  halftone.yield %3, %t : tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>
})";

constexpr const char *sides = R"(
halftone.kernel loop @k (tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>)
    -> (tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xi1>, tensor<$Px1xf32>) attributes {spec = #halftone.blocks<rows = 5>} {
^bb0(%a: tensor<$Mx$Nx$T>, %b: tensor<$Mx$Nx$T>):
  %0 = halftone.mul %a, %b : tensor<$Mx$Nx$T>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<$Mx$Nx$T> -> tensor<$Px$Nxf32>
  %f = halftone.is_finite %a : tensor<$Mx$Nx$T>
  %2 = halftone.partial_reduce and %f {axes = array<i64: 0, 1>, tile = array<i64: 5, $N>} : tensor<$Mx$Nxi1> -> tensor<$Px1xi1>
  %3 = halftone.partial_reduce max %b {axes = array<i64: 0, 1>, tile = array<i64: 5, $N>} : tensor<$Mx$Nx$T> -> tensor<$Px1xf32>
  halftone.yield %0, %1, %2, %3 : tensor<$Mx$Nx$T>, tensor<$Px$Nxf32>, tensor<$Px1xi1>, tensor<$Px1xf32>
})";

} // namespace

TEST_CASE("Loops read transposed, broadcast and scalar operands", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16", "bf16", "i32", "i8", "f64"})
    for (auto [m, n] : shapes) {
      CAPTURE(target, type, m, n);
      KernelHarness kernel(with(movement, m, n, type), target, true);
      kernel.checkExact(kernel.operands(1, true));
    }
}

TEST_CASE("Transposed operands of batches go through squares, whole and cut", "[kernels]") {
  constexpr const char *batches = R"(
halftone.kernel loop @k (tensor<$Bx$Nx$Mx$T>, tensor<$Mx$Nx$T>, tensor<$Nx$Bx$Mx$T>) -> (tensor<$Bx$Mx$Nx$T>, tensor<$Bx$Mx$Nxi1>) {
^bb0(%a: tensor<$Bx$Nx$Mx$T>, %b: tensor<$Mx$Nx$T>, %c: tensor<$Nx$Bx$Mx$T>):
  %0 = halftone.transpose %a {permutation = array<i64: 0, 2, 1>} : tensor<$Bx$Nx$Mx$T> to tensor<$Bx$Mx$Nx$T>
  %1 = halftone.transpose %c {permutation = array<i64: 1, 2, 0>} : tensor<$Nx$Bx$Mx$T> to tensor<$Bx$Mx$Nx$T>
  %2 = halftone.broadcast %b {axes = array<i64: 1, 2>} : tensor<$Mx$Nx$T> to tensor<$Bx$Mx$Nx$T>
  %3 = halftone.sub %0, %1 : tensor<$Bx$Mx$Nx$T>
  %4 = halftone.add %3, %2 : tensor<$Bx$Mx$Nx$T>
  %5 = halftone.compare lt %0, %1 : tensor<$Bx$Mx$Nx$T>
  halftone.yield %4, %5 : tensor<$Bx$Mx$Nx$T>, tensor<$Bx$Mx$Nxi1>
})";
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "bf16", "i64", "ui8", "f64"})
    for (auto [b, m, n] : {std::tuple<int64_t, int64_t, int64_t>{3, 40, 35}, {2, 16, 16}, {5, 7, 33}, {2, 150, 70}}) {
      CAPTURE(target, type, b, m, n);
      KernelHarness kernel(with(with(batches, {{"$B", std::to_string(b)}}), m, n, type), target, true);
      kernel.checkExact(kernel.operands(1, true));
    }
}

TEST_CASE("Partial reductions of loops give one partial result per block", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16"})
    for (auto [m, n] : shapes) {
      CAPTURE(target, type, m, n);
      if (m == 1) // blocks cut the other axis
        continue;
      std::string blocks = std::to_string((m + 4) / 5);
      KernelHarness kernel(with(with(sides, {{"$P", blocks}}), m, n, type), target, false);
      kernel.checkInside(kernel.operands(6, false));
      kernel.checkInside(kernel.operands(7, true));
    }
}
