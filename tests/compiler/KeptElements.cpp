// In-place updates that leave most elements unchanged, and the same updates out of place.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::with;

namespace {

/// $N rows of $B batches, of which $K from index %place on get new elements. `$C` is the operands of the select.
constexpr const char *update = R"(
halftone.kernel loop @k (tensor<i32>, tensor<$Bx$Fx$T>, tensor<$Bx$Nx$Fx$T>) -> tensor<$Bx$Nx$Fx$T> {
^bb0(%place: tensor<i32>, %new: tensor<$Bx$Fx$T>, %old: tensor<$Bx$Nx$Fx$T>):
  %0 = halftone.iota {axis = $A : i64} : tensor<$Bx$Nx$Fxi32>
  %1 = halftone.broadcast %place {axes = array<i64>} : tensor<i32> to tensor<$Bx$Nx$Fxi32>
  %2 = halftone.sub %0, %1 : tensor<$Bx$Nx$Fxi32>
  %3 = halftone.constant dense<0> : tensor<$Bx$Nx$Fxi32>
  %4 = halftone.compare ge %2, %3 : tensor<$Bx$Nx$Fxi32>
  %5 = halftone.constant dense<$K> : tensor<$Bx$Nx$Fxi32>
  %6 = halftone.compare lt %2, %5 : tensor<$Bx$Nx$Fxi32>
  %7 = halftone.and %4, %6 : tensor<$Bx$Nx$Fxi1>
  %no = halftone.not %7 : tensor<$Bx$Nx$Fxi1>
  %8 = halftone.broadcast %new {axes = array<i64: 0, 2>} : tensor<$Bx$Fx$T> to tensor<$Bx$Nx$Fx$T>
  %9 = halftone.select $C : tensor<$Bx$Nx$Fx$T>
  halftone.yield %9 : tensor<$Bx$Nx$Fx$T>
})";

struct Extents {
  int64_t batch, rows, features, count;
};
const Extents all[] = {{1, 33, 40, 1}, {3, 17, 64, 4}, {2, 1, 5, 1}, {1, 300, 1, 7}, {2, 70, 33, 2}};

std::string textOf(const Extents &of, const std::string &type, bool keepsIfTrue, int64_t axis = 1) {
  return with(update, {{"$B", std::to_string(of.batch)},
                       {"$N", std::to_string(of.rows)},
                       {"$F", std::to_string(of.features)},
                       {"$K", std::to_string(of.count)},
                       {"$A", std::to_string(axis)},
                       {"$C", keepsIfTrue ? "%no, %old, %8" : "%7, %8, %old"},
                       {"$T", type}});
}

bool isNoted(const KernelHarness &kernel) { return kernel.linalgText().find("halftone.keeps") != std::string::npos; }

} // namespace

TEST_CASE("A loop that leaves rows as they are gives the same result in place", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "bf16", "f16", "f64", "i8", "i32", "i1"})
    for (const Extents &of : all)
      for (const bool keepsIfTrue : {false, true}) {
        CAPTURE(target, type, of.batch, of.rows, of.features, keepsIfTrue);
        const KernelHarness kernel(textOf(of, type, keepsIfTrue), target, false);
        CHECK(isNoted(kernel) == (of.rows > 1 && of.features > 1)); // axes of extent 1 are not dims
        auto operands = kernel.operands(3, false);
        for (const int64_t place : {int64_t(0), of.rows / 2, of.rows - 1, of.rows, int64_t(-1)}) {
          operands[0].integers[0] = place;
          kernel.checkExact(operands);
          CHECK(kernel.runInPlace(operands, 2)[0].toBytes() == kernel.run(operands)[0].toBytes());
        }
      }
}

TEST_CASE("A choice for each element of a row is no choice of rows", "[kernels]") {
  for (const bool keepsIfTrue : {false, true}) {
    const KernelHarness kernel(textOf({2, 9, 40, 3}, "f32", keepsIfTrue, 2), "host", false);
    CHECK(!isNoted(kernel));
    auto operands = kernel.operands(3, false);
    operands[0].integers[0] = 7;
    kernel.checkExact(operands);
    CHECK(kernel.runInPlace(operands, 2)[0].toBytes() == kernel.run(operands)[0].toBytes());
  }
}
