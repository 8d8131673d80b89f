// Reductions that keep the innermost axis, compiled, against the interpreter.
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
