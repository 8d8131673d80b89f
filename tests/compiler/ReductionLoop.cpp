// Compares compiled reductions that keep the innermost axis with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;

namespace {

std::string columns(int64_t batch, int64_t m, int64_t n, const std::string &type) {
  std::string x = fmt::format("tensor<{}x{}x{}x{}>", batch, m, n, type),
              y = fmt::format("tensor<{}x{}x{}>", batch, n, type);
  std::string row = fmt::format("tensor<{}x{}>", n, type), i = fmt::format("tensor<{}x{}xi32>", batch, n);
  return fmt::format(R"(
halftone.kernel loop @k ({0}, {2}) -> ({1}, {1}, {3}) {{
^bb0(%x: {0}, %row: {2}):
  %0 = halftone.mul %x, %x : {0}
  %s = halftone.reduce sum %0 {{axes = array<i64: 1>}} : {0} -> {1}
  %m = halftone.reduce max %x {{axes = array<i64: 1>}} : {0} -> {1}
  %a = halftone.arg_reduce min %x {{axis = 1 : i64}} : {0} -> {3}
  %r = halftone.broadcast %row {{axes = array<i64: 1>}} : {2} to {1}
  %t = halftone.add %s, %r : {1}
  halftone.yield %t, %m, %a : {1}, {1}, {3}
}})",
                     x, y, row, i);
}

/// A grouped convolution with two channels and two filters per group.
const char *fewChannels = R"(
halftone.kernel reduction_loop @k (tensor<2x7x16xf32>, tensor<2x3x8x2xf32>) -> tensor<2x7x8x2xf32> {
^bb0(%x: tensor<2x7x16xf32>, %w: tensor<2x3x8x2xf32>):
  %0 = halftone.window %x {stride = array<i64: 1, 1>, dilation = array<i64: 1, 2>, low = array<i64: 1, 0>, hole = array<i64: 1, 1>} : tensor<2x7x16xf32> to tensor<2x7x2x3x8xf32>
  %1 = halftone.broadcast %0 {axes = array<i64: 0, 1, 2, 3, 4>} : tensor<2x7x2x3x8xf32> to tensor<2x7x2x3x8x2xf32>
  %2 = halftone.broadcast %w {axes = array<i64: 2, 3, 4, 5>} : tensor<2x3x8x2xf32> to tensor<2x7x2x3x8x2xf32>
  %3 = halftone.mul %1, %2 : tensor<2x7x2x3x8x2xf32>
  %4 = halftone.reduce sum %3 {axes = array<i64: 2, 3>} : tensor<2x7x2x3x8x2xf32> -> tensor<2x7x8x2xf32>
  halftone.yield %4 : tensor<2x7x8x2xf32>
})";

} // namespace

TEST_CASE("Reduction loops keep their inner axis", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f16", "f64"})
    for (auto [batch, m, n] :
         {std::tuple<int64_t, int64_t, int64_t>{1, 9, 5}, {2, 3, 67}, {3, 40, 16}, {1, 2, 200}, {2, 70, 650}}) {
      CAPTURE(target, type, batch, m, n);
      KernelHarness kernel(columns(batch, m, n, type), target, false);
      kernel.checkInside(kernel.operands(1, false));
      kernel.checkInside(kernel.operands(2, true));
    }
}

TEST_CASE("Integer reduction loops are bitwise", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"i32", "ui8", "i64", "i8"}) {
    CAPTURE(target, type);
    KernelHarness kernel(columns(2, 7, 37, type), target, false);
    kernel.checkExact(kernel.operands(1, false));
  }
}

TEST_CASE("Lanes along groups are refused where the schedule fits neither the kernel nor the vectors", "[kernels]") {
  const KernelHarness groups(fewChannels, "x86-64-v3", false);
  REQUIRE(groups.schedule() == "#halftone_cpu.grouped<filters = 2, channels = 2, channel_dim = 2>");
  const auto refuses = [](const KernelHarness &kernel, const std::string &parameters, const std::string &expected) {
    INFO(parameters);
    CHECK_THAT(kernel.refusalOf("#halftone_cpu.grouped<" + parameters + ">"),
               Catch::Contains("unsupported lanes along groups: " + expected));
  };
  refuses(groups, "filters = 3, channels = 2, channel_dim = 2",
          "filters = 3; expected a divisor of the 8 lanes of a vector");
  refuses(groups, "filters = 16, channels = 2, channel_dim = 2", "filters = 16; expected a divisor of the 8 lanes");
  refuses(groups, "filters = 2, channels = 3, channel_dim = 2", "channels = 3 with filters = 2; expected at most 2");
  refuses(groups, "filters = 8, channels = 9, channel_dim = 2", "channels = 9 with filters = 8; expected at most 8");
  refuses(groups, "filters = 2, channels = 2, channel_dim = 6", "channel_dim = 6 of ");
  refuses(KernelHarness(columns(2, 7, 37, "f32"), "x86-64-v3", false), "filters = 2, channels = 1",
          "the last two of 3 dims are groups and filters; expected both to be kept");
}
