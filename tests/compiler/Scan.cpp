// Compares compiled scan kernels with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::with;

namespace {

/// `$D` is "" or additional attributes.
constexpr const char *along = R"(
halftone.kernel cumulative @k (tensor<$Bx$Mx$Nx$T>, tensor<$Nx$T>) -> (tensor<$Bx$Mx$Nx$T>) {
^bb0(%x: tensor<$Bx$Mx$Nx$T>, %b: tensor<$Nx$T>):
  %bb = halftone.broadcast %b {axes = array<i64: 2>} : tensor<$Nx$T> to tensor<$Bx$Mx$Nx$T>
  %0 = halftone.add %x, %bb : tensor<$Bx$Mx$Nx$T>
  %1 = halftone.cumsum %0 {axis = $A : i64$D} : tensor<$Bx$Mx$Nx$T> -> tensor<$Bx$Mx$Nx$T>
  halftone.yield %1 : tensor<$Bx$Mx$Nx$T>
})";

std::string scanOf(const std::string &axis, bool reverse, int64_t b, int64_t m, int64_t n, const std::string &type) {
  const std::string text = with(along, {{"$A", axis}, {"$D", reverse ? ", reverse" : ""}, {"$B", std::to_string(b)}});
  return with(text, m, n, type);
}

} // namespace

TEST_CASE("A scan along any axis adds in the stated direction", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const bool reverse = GENERATE(false, true);
  for (const char *axis : {"0", "1", "2"})
    for (const char *type : {"f32", "bf16", "f64"})
      for (auto [b, m, n] : {std::tuple<int64_t, int64_t, int64_t>{2, 5, 3}, {3, 7, 64}, {2, 3, 129}, {1, 2, 700}}) {
        CAPTURE(target, axis, reverse, type, b, m, n);
        KernelHarness kernel(scanOf(axis, reverse, b, m, n, type), target, /*strict=*/false);
        kernel.checkInside(kernel.operands(1, false));
        kernel.checkInside(kernel.operands(2, true));
      }
}

TEST_CASE("A scan multiplies, or keeps the largest or the smallest element", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const std::string kind = GENERATE("prod", "max", "min"), direction = GENERATE("", ", reverse");
  for (const char *axis : {"1", "2"})
    for (const char *type : {"f32", "bf16", "i32", "ui8"})
      for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 64}, {3, 129}, {2, 700}}) {
        CAPTURE(target, kind, direction, axis, type, m, n);
        const std::string more = direction + ", kind = #halftone<reduce_kind " + kind + ">";
        const std::string text = with(along, {{"$A", axis}, {"$D", more}, {"$B", "2"}});
        KernelHarness kernel(with(text, m, n, type), target, /*strict=*/false);
        kernel.checkInside(kernel.operands(1, false));
        kernel.checkInside(kernel.operands(2, true));
      }
}

TEST_CASE("A scan of integers wraps", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const bool reverse = GENERATE(false, true);
  for (const char *axis : {"0", "1", "2"})
    for (const char *type : {"i8", "i32", "i64"}) {
      CAPTURE(target, axis, reverse, type);
      KernelHarness kernel(scanOf(axis, reverse, 3, 40, 37, type), target, /*strict=*/true);
      kernel.checkExact(kernel.operands(1, true));
    }
}
