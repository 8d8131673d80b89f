// How the threads of a GPU divide rows, and the instructions that result.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using halftone::testing::GpuLaunch;
using halftone::testing::KernelHarness;
using halftone::testing::runOnGpu;
using halftone::testing::with;

namespace {

constexpr const char *normalize = R"(
halftone.kernel row @k (tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
^bb0(%x: tensor<$Mx$Nx$T>):
  %m = halftone.reduce max %x {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %d = halftone.sub %x, %mb : tensor<$Mx$Nx$T>
  %s = halftone.reduce sum %d {axes = array<i64: 1>} : tensor<$Mx$Nx$T> -> tensor<$Mx$T>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mx$T> to tensor<$Mx$Nx$T>
  %y = halftone.mul %d, %sb : tensor<$Mx$Nx$T>
  halftone.yield %y : tensor<$Mx$Nx$T>
})";

KernelHarness kernelOf(int64_t m, int64_t n, const char *type) {
  return KernelHarness(with(normalize, m, n, type), "sm_80", /*strict=*/false);
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("Threads take rows by their length: teams, threads of a team, elements of a vector, vectors in registers") {
  const auto tileIs = [](int64_t n, const char *type, const std::string &tile) {
    INFO(n << " elements of " << type);
    const KernelHarness kernel = kernelOf(100, n, type);
    CHECK(kernel.schedule() == "#halftone_gpu.row<" + tile + ">");
  };
  tileIs(31, "f32", "teams = 8, across = 32, vector = 1, steps = 1");
  tileIs(32, "f32", "teams = 8, across = 32, vector = 4, steps = 1");
  tileIs(512, "f32", "teams = 8, across = 32, vector = 4, steps = 4");
  tileIs(768, "bf16", "teams = 8, across = 32, vector = 8, steps = 3");
  tileIs(1000, "f32", "teams = 4, across = 64, vector = 4, steps = 4");
  tileIs(1000, "f64", "teams = 2, across = 128, vector = 2, steps = 4");
  tileIs(20000, "f32", "teams = 1, across = 512, vector = 4, steps = 0");
}

TEST_CASE("Rows are the same by every schedule that fits them") {
  constexpr int64_t columns = 72;
  const KernelHarness kernel = kernelOf(7, columns, "i32");
  const auto target = halftone::compiler::Target::find("sm_80");
  const GpuLaunch launch = kernel.gpuLaunch(kernel.operands(3, /*specials=*/false));
  const std::vector<std::string> expected = runOnGpu(launch, /*parts=*/0, /*seed=*/1);
  const auto check = [&](int64_t teams, int64_t across, int64_t vector, int64_t steps) {
    std::string text = kernel.linalgText();
    const std::string own = fmt::format("#halftone_gpu.row<teams = {}, across = {}, vector = {}, steps = {}>", teams,
                                        across, vector, steps);
    CAPTURE(own);
    text.replace(text.find(kernel.schedule()), kernel.schedule().size(), own);
    const auto code = halftone::compiler::compileKernel(text, **target);
    REQUIRE(code.isOk());
    const int64_t scratchBytes = steps == 0 ? 1024 : 0; // two values of a row, each of 320 bytes
    CHECK(runOnGpu({*code, launch.operands, launch.resultBytes, launch.extents, launch.grid, scratchBytes}, 0, 2) ==
          expected);
  };
  for (const auto [teams, across] : {std::pair<int64_t, int64_t>{1, 32}, {4, 32}, {32, 32}, {1, 128}, {2, 512}})
    for (const int64_t vector : {1, 2, 4, 8}) {
      const int64_t needed = (columns + across * vector - 1) / (across * vector);
      check(teams, across, vector, needed);
      check(teams, across, vector, needed + 1);
    }
  check(1, 32, 8, 0);
  check(1, 1024, 1, 0);
}

TEST_CASE("A warp reads and writes each element of a short row once, 16 bytes at a time") {
  const KernelHarness kernel = kernelOf(100, 768, "bf16");
  const std::string ptx = kernel.code().code;
  CHECK(countOf(ptx, "ld.global.v4.b32") == 3);
  CHECK(countOf(ptx, "st.global.v4.b32") == 3);
  // Two reductions, each over 32 lanes by halving, and then a broadcast of the same bits to all lanes.
  CHECK(countOf(ptx, "shfl.sync.down.b32") == 10);
  CHECK(countOf(ptx, "shfl.sync.idx.b32") == 2);
  CHECK(countOf(ptx, "bar.sync") + countOf(ptx, "barrier.sync") == 0);
  CHECK(countOf(ptx, ".local") == 0);
}

TEST_CASE("Warps of a longer row meet twice for each total") {
  const KernelHarness kernel = kernelOf(100, 1000, "f32");
  const std::string ptx = kernel.code().code;
  CHECK(countOf(ptx, "ld.global.v4.b32") == 4);
  CHECK(countOf(ptx, "bar.sync") + countOf(ptx, "barrier.sync") == 4);
  CHECK(countOf(ptx, ".local") == 0);
}

TEST_CASE("A block that gives one row a scalar stores it after all threads have read") {
  const KernelHarness kernel(R"(
halftone.kernel row @k (tensor<40xf32>, tensor<f32>) -> tensor<f32> {
^bb0(%x: tensor<40xf32>, %before: tensor<f32>):
  %s = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<40xf32> -> tensor<f32>
  %y = halftone.add %s, %before : tensor<f32>
  halftone.yield %y : tensor<f32>
})",
                             "sm_80", /*strict=*/false);
  const std::string ptx = kernel.code().code;
  const size_t barrier = ptx.rfind("bar.sync"), store = ptx.find("st.global");
  REQUIRE(barrier != std::string::npos);
  REQUIRE(store != std::string::npos);
  CHECK(barrier < store);
  CHECK(ptx.rfind("ld.global") < barrier);
}
