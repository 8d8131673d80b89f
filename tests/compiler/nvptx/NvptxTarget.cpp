// The target of NVIDIA GPUs: its name, its key, and the PTX of kernels.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>

using namespace halftone;
using namespace halftone::compiler;
using halftone::testing::KernelHarness;
using halftone::testing::with;

namespace {

/// Tests that this program shares with test_kernels compile for a GPU in this program.
[[maybe_unused]] const int chosen = setenv("HALFTONE_TEST_TARGET", "sm_80", 1);

constexpr const char *multiplyAdd = R"(
halftone.kernel loop @k (tensor<$Nx$T>, tensor<$Nx$T>) -> (tensor<$Nx$T>) {
^bb0(%x: tensor<$Nx$T>, %y: tensor<$Nx$T>):
  %0 = halftone.mul %x, %y : tensor<$Nx$T>
  %1 = halftone.add %0, %y : tensor<$Nx$T>
  halftone.yield %1 : tensor<$Nx$T>
})";

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("The target of NVIDIA GPUs is found by name") {
  auto target = Target::find("sm_80");
  REQUIRE(target.isOk());
  CHECK((*target)->name == "sm_80");
  CHECK((*target)->key() == "nvptx|sm_80|ptx80");
  CHECK_FALSE((*target)->lowerings().weightPanels(compiler::Numerics::fast(), DType::float16, 256, 256).has_value());
  for (const char *name : {"sm_70", "sm_", "sm_80a", "sm_80:", "sm_80:0", "sm_80:1025", "sm_80:-1", "sm_80:08",
                           "sm_80:1x", "sm_80:4294967297", "sm_80:108:1", "sm_86:108"}) {
    auto unknown = Target::find(name);
    REQUIRE_FALSE(unknown.isOk());
    CHECK(unknown.status().kind() == ErrorKind::value_error);
    CHECK_THAT(unknown.status().message(), Catch::Contains(name) && Catch::Contains("expected \"sm_80\"") &&
                                               Catch::Contains("\"sm_80:<n>\" for n multiprocessors, 1 to 1024"));
  }
}

TEST_CASE("The target of NVIDIA GPUs chooses blocks for a number of multiprocessors, which is part of its key") {
  const auto usual = Target::find("sm_80").valueOrThrow(), same = Target::find("sm_80:108").valueOrThrow(),
             most = Target::find("sm_80:1024").valueOrThrow(), least = Target::find("sm_80:1").valueOrThrow();
  CHECK(same->key() == usual->key());
  CHECK(most->name == "sm_80:1024");
  CHECK(most->processor == "sm_80");
  CHECK(most->key() == "nvptx|sm_80|ptx80|1024 multiprocessors");
  CHECK(least->key() == "nvptx|sm_80|ptx80|1 multiprocessors");
  const MatmulTraits product{DType::float32, DType::float32, DType::float32, 784, 32, 4032};
  // 25 tiles of 32 x 32 are too few for 108 multiprocessors, but enough for one.
  CHECK(usual->blocking(compiler::Numerics::fast()).depthParts(product) == 3);
  CHECK(same->blocking(compiler::Numerics::fast()).depthParts(product) == 3);
  CHECK(most->blocking(compiler::Numerics::fast()).depthParts(product) == 7);
  CHECK(least->blocking(compiler::Numerics::fast()).depthParts(product) == 1);
}

TEST_CASE("A loop of one dim moves 16 bytes at a time and fuses products with sums where that is allowed") {
  for (bool strict : {false, true}) {
    const std::string ptx = KernelHarness(with(multiplyAdd, 1, 5000, "f32"), "sm_80", strict).code().code;
    CAPTURE(strict, ptx);
    CHECK(countOf(ptx, "ld.global.v4.b32") == 2);
    CHECK(countOf(ptx, "st.global.v4.b32") == 1);
    CHECK((countOf(ptx, "fma.rn.f32") > 0) != strict);
    CHECK(countOf(ptx, ".local") == 0);
    CHECK(countOf(ptx, ".func") == 0);
    CHECK_THAT(ptx, Catch::Contains(".target sm_80") && Catch::Contains(".version 8.0"));
  }
}

TEST_CASE("Indices are i32 if no tensor and no range of dims has more than 2^30 elements, else i64") {
  CHECK(fitShortIndices({int64_t(1) << 30}));
  CHECK(fitShortIndices({1 << 15, 1 << 15, 1, 1}));
  CHECK(fitShortIndices({}));
  CHECK(fitShortIndices({0, int64_t(1) << 30}));
  CHECK_FALSE(fitShortIndices({(int64_t(1) << 30) + 1}));
  CHECK_FALSE(fitShortIndices({1 << 15, (1 << 15) + 1}));
  CHECK_FALSE(fitShortIndices({int64_t(1) << 32, int64_t(1) << 32})); // their product is 0 modulo 2^64
  const auto isShort = [](const std::string &text, const std::string &target = "sm_80") {
    return KernelHarness(text, target, /*strict=*/false).linalgText().find("halftone.short_indices") !=
           std::string::npos;
  };
  CHECK(isShort(with(multiplyAdd, 1, int64_t(1) << 30, "f32")));
  CHECK_FALSE(isShort(with(multiplyAdd, 1, (int64_t(1) << 30) + 1, "f32")));
  CHECK_FALSE(isShort(with(multiplyAdd, 1, 5000, "f32"), "x86-64-v2"));
  // No tensor here is large, but a row of the kernel's space has 2^32 elements.
  CHECK_FALSE(isShort(R"(
halftone.kernel row @k (tensor<65536xf32>, tensor<65536xf32>) -> tensor<f32> {
^bb0(%x: tensor<65536xf32>, %y: tensor<65536xf32>):
  %a = halftone.broadcast %x {axes = array<i64: 0>} : tensor<65536xf32> to tensor<65536x65536xf32>
  %b = halftone.broadcast %y {axes = array<i64: 1>} : tensor<65536xf32> to tensor<65536x65536xf32>
  %0 = halftone.mul %a, %b : tensor<65536x65536xf32>
  %1 = halftone.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<65536x65536xf32> -> tensor<f32>
  halftone.yield %1 : tensor<f32>
})"));
  // M, N and K of a product are never combined to one index.
  CHECK(isShort(R"(
halftone.kernel matmul @k (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
^bb0(%a: tensor<8192x8192xf32>, %b: tensor<8192x8192xf32>):
  %0 = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, tile = array<i64: 128, 128>} : (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  halftone.yield %0 : tensor<8192x8192xf32>
})"));
}

TEST_CASE("Code with i32 indices divides in 32 bits, and code for more elements in 64") {
  const std::string small = KernelHarness(with(multiplyAdd, 1, 5000, "f32"), "sm_80", false).code().code,
                    large = KernelHarness(with(multiplyAdd, 1, int64_t(1) << 31, "f32"), "sm_80", false).code().code;
  const auto wideDivisions = [](const std::string &ptx) {
    return countOf(ptx, "div.u64") + countOf(ptx, "rem.u64") + countOf(ptx, "div.s64") + countOf(ptx, "rem.s64");
  };
  CHECK(wideDivisions(small) == 0);
  CHECK(wideDivisions(large) > 0);
}

TEST_CASE("Indices of i64 name rows by all their bits in code with i32 indices") {
  const int64_t far = int64_t(1) << 32;
  for (const char *text : {R"(
halftone.kernel scatter @k (tensor<8xi64>, tensor<8x5xf32>) -> tensor<4x5xf32> {
^bb0(%i: tensor<8xi64>, %u: tensor<8x5xf32>):
  %0 = halftone.scatter_add %i, %u {axis = 0 : i64} : (tensor<8xi64>, tensor<8x5xf32>) -> tensor<4x5xf32>
  halftone.yield %0 : tensor<4x5xf32>
})",
                           R"(
halftone.kernel loop @k (tensor<8xi64>, tensor<4x5xf32>) -> tensor<8x5xf32> {
^bb0(%i: tensor<8xi64>, %u: tensor<4x5xf32>):
  %0 = halftone.gather %u, %i {axis = 0 : i64} : (tensor<4x5xf32>, tensor<8xi64>) -> tensor<8x5xf32>
  halftone.yield %0 : tensor<8x5xf32>
})"}) {
    const KernelHarness kernel(text, "sm_80", /*strict=*/true);
    CAPTURE(kernel.linalgText());
    CHECK_THAT(kernel.linalgText(), Catch::Contains("halftone.short_indices"));
    auto operands = kernel.operands(3, false);
    operands[0].integers = {1, far + 1, -1, -far + 2, far, 3, std::numeric_limits<int64_t>::min(), 4};
    kernel.checkExact(operands);
  }
}

TEST_CASE("Narrow floats are moved eight at a time") {
  for (const char *type : {"f16", "bf16"}) {
    const std::string ptx = KernelHarness(with(multiplyAdd, 1, 5000, type), "sm_80", false).code().code;
    CAPTURE(type, ptx);
    CHECK(countOf(ptx, "ld.global.v4.b32") == 2);
    CHECK(countOf(ptx, "st.global.v4.b32") == 1);
  }
}
