// Loops on GPUs: partial reductions that keep several sets of dims, blocks that split vectors, in-place results.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::GpuLaunch;
using halftone::testing::KernelHarness;
using halftone::testing::with;

namespace {

/// Sums over a space of three dims that keep two dims, one dim and none.
constexpr const char *sums = R"(
halftone.kernel loop @k (tensor<7x3x$Nx$T>, tensor<$Nx$T>)
    -> (tensor<7x3x$Nx$T>, tensor<4x3x$Nxf32>, tensor<4x1x$Nxf32>, tensor<4x1x1xf32>)
    attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%x: tensor<7x3x$Nx$T>, %row: tensor<$Nx$T>):
  %r = halftone.broadcast %row {axes = array<i64: 2>} : tensor<$Nx$T> to tensor<7x3x$Nx$T>
  %0 = halftone.mul %x, %r : tensor<7x3x$Nx$T>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<7x3x$Nx$T> -> tensor<4x3x$Nxf32>
  %2 = halftone.partial_reduce max %0 {axes = array<i64: 0, 1>, tile = array<i64: 2, 3>} : tensor<7x3x$Nx$T> -> tensor<4x1x$Nxf32>
  %3 = halftone.partial_reduce sum %x {axes = array<i64: 0, 1, 2>, tile = array<i64: 2, 3, $N>} : tensor<7x3x$Nx$T> -> tensor<4x1x1xf32>
  halftone.yield %0, %1, %2, %3 : tensor<7x3x$Nx$T>, tensor<4x3x$Nxf32>, tensor<4x1x$Nxf32>, tensor<4x1x1xf32>
})";

/// A flat space in blocks of five elements.
constexpr const char *flat = R"(
halftone.kernel loop @k (tensor<$Nx$T>) -> (tensor<$Nx$T>, tensor<$Mxf32>) attributes {spec = #halftone.blocks<rows = 5>} {
^bb0(%x: tensor<$Nx$T>):
  %0 = halftone.add %x, %x : tensor<$Nx$T>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<$Nx$T> -> tensor<$Mxf32>
  halftone.yield %0, %1 : tensor<$Nx$T>, tensor<$Mxf32>
})";

} // namespace

TEST_CASE("Partial reductions of one loop may keep different dims", "[kernels]") {
  for (const char *type : {"f32", "bf16"})
    for (int64_t n : {40, 5, 129}) {
      CAPTURE(type, n);
      KernelHarness kernel(with(sums, 1, n, type), "sm_80", false);
      kernel.checkInside(kernel.operands(1, false));
      kernel.checkInside(kernel.operands(2, true));
    }
}

TEST_CASE("Blocks of a flat loop may begin within a vector", "[kernels]") {
  for (const char *type : {"f32", "f16"})
    for (int64_t n : {77, 5, 80}) {
      CAPTURE(type, n);
      KernelHarness kernel(with(flat, (n + 4) / 5, n, type), "sm_80", false);
      kernel.checkInside(kernel.operands(1, false));
    }
}

TEST_CASE("A loop's result may take the place of an operand that partial reductions read", "[kernels]") {
  KernelHarness kernel(with(sums, 1, 40, "f32"), "sm_80", false);
  GpuLaunch launch{kernel.code(),
                   {},
                   {7 * 3 * 40 * 4, 4 * 3 * 40 * 4, 4 * 40 * 4, 4 * 4},
                   kernel.description().extents,
                   kernel.description().grid};
  for (const auto &operand : kernel.operands(3, false))
    launch.operands.push_back(operand.toBytes());
  const std::vector<std::string> apart = runOnGpu(launch, 0, 1);
  launch.over = {0, -1, -1, -1};
  for (unsigned seed : {1u, 2u, 3u})
    CHECK(runOnGpu(launch, 0, seed) == apart);
}
