// Compares compiled scatter kernels with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::with;

namespace {

/// Sums of `$I` slices of updates at rows of an axis of extent `$M`, with `$N` columns.
constexpr const char *sums = R"(
halftone.kernel scatter @k (tensor<$Ixi64>, tensor<$Bx$Ix$Nx$T>) -> tensor<$Bx$Mx$Nx$T> {
^bb0(%i: tensor<$Ixi64>, %u: tensor<$Bx$Ix$Nx$T>):
  %0 = halftone.scatter_add %i, %u {axis = 1 : i64} : (tensor<$Ixi64>, tensor<$Bx$Ix$Nx$T>) -> tensor<$Bx$Mx$Nx$T>
  halftone.yield %0 : tensor<$Bx$Mx$Nx$T>
})";

std::string scatterOf(int64_t b, int64_t indices, int64_t m, int64_t n, const std::string &type) {
  return with(with(sums, {{"$B", std::to_string(b)}, {"$I", std::to_string(indices)}}), m, n, type);
}

} // namespace

TEST_CASE("A scatter adds repeated rows in the order of the indices, and clamps indices outside", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f64", "i32"})
    for (auto [b, indices, m, n] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 5, 3, 4},
                                    {2, 70, 9, 33},
                                    {1, 100, 500, 64},
                                    {3, 33, 40, 1},
                                    {1, 1, 1, 300},
                                    {2, 40, 2, 1500}}) {
      CAPTURE(target, type, b, indices, m, n);
      KernelHarness kernel(scatterOf(b, indices, m, n, type), target, /*strict=*/true);
      auto operands = kernel.operands(1, true);
      for (size_t i = 0; i < operands[0].integers.size(); ++i)
        if (i % 7 != 0) // every seventh index may be out of bounds, at either end
          operands[0].integers[i] = (operands[0].integers[i] % m + m) % m;
      // Every target and the interpreter add in the order of the indices, so the results are bit-identical.
      kernel.checkExact(operands);
    }
}

TEST_CASE("A scatter with batch axes adds at each place of them by the indices there", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  constexpr const char *batches = R"(
halftone.kernel scatter @k (tensor<$Bx$Ixi32>, tensor<$Bx2x$Ix$Nx$T>) -> tensor<$Bx2x$Mx$Nx$T> {
^bb0(%i: tensor<$Bx$Ixi32>, %u: tensor<$Bx2x$Ix$Nx$T>):
  %0 = halftone.scatter_add %i, %u {axis = 2 : i64, batch = 1 : i64} : (tensor<$Bx$Ixi32>, tensor<$Bx2x$Ix$Nx$T>) -> tensor<$Bx2x$Mx$Nx$T>
  halftone.yield %0 : tensor<$Bx2x$Mx$Nx$T>
})";
  for (const char *type : {"f32", "i32"})
    for (auto [b, indices, m, n] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{3, 5, 4, 7},
                                    {70, 33, 9, 1},
                                    {2, 1, 1, 300},
                                    {2, 200, 500, 40}}) {
      CAPTURE(target, type, b, indices, m, n);
      const std::string text = with(batches, {{"$B", std::to_string(b)}, {"$I", std::to_string(indices)}});
      KernelHarness kernel(with(text, m, n, type), target, /*strict=*/true);
      auto operands = kernel.operands(1, true);
      for (size_t i = 0; i < operands[0].integers.size(); ++i)
        if (i % 7 != 0)
          operands[0].integers[i] = (operands[0].integers[i] % m + m) % m;
      kernel.checkExact(operands);
    }
}

TEST_CASE("A scatter into a tensor combines it with the updates in order, and leaves out indices outside",
          "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const std::string kind = GENERATE("set", "sum", "max", "min", "prod");
  constexpr const char *into = R"(
halftone.kernel scatter @k (tensor<$Bx$Mx$Nx$T>, tensor<$Bx$Ixi32>, tensor<$Bx$Ix$Nx$T>) -> tensor<$Bx$Mx$Nx$T> {
^bb0(%x: tensor<$Bx$Mx$Nx$T>, %i: tensor<$Bx$Ixi32>, %u: tensor<$Bx$Ix$Nx$T>):
  %0 = halftone.scatter $K %x, %i, %u {axis = 1 : i64, batch = 1 : i64} : (tensor<$Bx$Mx$Nx$T>, tensor<$Bx$Ixi32>, tensor<$Bx$Ix$Nx$T>) -> tensor<$Bx$Mx$Nx$T>
  halftone.yield %0 : tensor<$Bx$Mx$Nx$T>
})";
  for (const char *type : {"f32", "f64", "i32", "ui8"})
    for (auto [b, indices, m, n] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 5, 3, 4},
                                    {3, 33, 40, 1},
                                    {2, 70, 9, 33},
                                    {1, 100, 500, 64}}) {
      CAPTURE(target, kind, type, b, indices, m, n);
      const std::string text = with(into, {{"$K", kind}, {"$B", std::to_string(b)}, {"$I", std::to_string(indices)}});
      KernelHarness kernel(with(text, m, n, type), target, /*strict=*/true);
      auto operands = kernel.operands(1, kind != "sum" && kind != "prod");
      for (size_t i = 0; i < operands[1].integers.size(); ++i)
        operands[1].integers[i] = (operands[1].integers[i] % (m + 2) + m + 2) % (m + 2) - 1; // from -1 to m
      kernel.checkExact(operands);
    }
}

TEST_CASE("A scatter of no indices clears its rows", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  CAPTURE(target);
  KernelHarness kernel(scatterOf(2, 0, 30, 5, "f32"), target, /*strict=*/true);
  kernel.checkExact(kernel.operands(1, false));
}
