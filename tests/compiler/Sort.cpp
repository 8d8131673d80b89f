// Compares compiled sort kernels with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone::testing;

namespace {

/// The first `count` elements along the middle axis, with elementwise work before the sort.
std::string sortOf(int64_t outer, int64_t length, int64_t count, int64_t inner, const std::string &type,
                   bool descending) {
  return fmt::format(R"(
halftone.kernel sort @k (tensor<{0}x{1}x{3}x{4}>) -> (tensor<{0}x{2}x{3}x{4}>, tensor<{0}x{2}x{3}xi32>) {{
^bb0(%x: tensor<{0}x{1}x{3}x{4}>):
  %0 = halftone.{6} %x : tensor<{0}x{1}x{3}x{4}>
  %v, %i = halftone.sort %0 {{axis = 1 : i64{5}}} : tensor<{0}x{1}x{3}x{4}> -> tensor<{0}x{2}x{3}x{4}>, tensor<{0}x{2}x{3}xi32>
  halftone.yield %v, %i : tensor<{0}x{2}x{3}x{4}>, tensor<{0}x{2}x{3}xi32>
}})",
                     outer, length, count, inner, type, descending ? ", descending" : "", type == "i1" ? "not" : "neg");
}

void check(const std::string &text, const std::string &target, double scale = 2.0) {
  KernelHarness kernel(text, target, /*strict=*/true);
  for (const bool specials : {false, true})
    kernel.checkExact(kernel.operands(1, specials, scale));
}

const std::vector<std::string> types = {"f32", "f16", "bf16", "f64", "i1", "i8", "i32", "i64", "ui8", "ui32", "ui64"};

} // namespace

TEST_CASE("A sort of rows of any length gives the interpreter's elements and indices", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const bool descending = GENERATE(false, true);
  for (const std::string &type : types)
    for (const int64_t length : {1, 2, 63, 64, 129, 257}) {
      CAPTURE(target, descending, type, length);
      check(sortOf(3, length, length, 1, type, descending), target);
    }
}

TEST_CASE("The first elements of a row are those of the whole row in order", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const std::string &type : types)
    for (auto [length, count] : {std::pair<int64_t, int64_t>{64, 1}, {257, 64}, {300, 65}, {33, 8}, {1001, 10}}) {
      CAPTURE(target, type, length, count);
      check(sortOf(2, length, count, 1, type, true), target);
    }
}

TEST_CASE("A sort along an axis that is not the last reads its rows where they lie", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "bf16", "i64", "ui8"})
    for (auto [length, count] : {std::pair<int64_t, int64_t>{40, 40}, {200, 200}, {90, 3}}) {
      CAPTURE(target, type, length, count);
      check(sortOf(2, length, count, 5, type, false), target);
    }
}

TEST_CASE("Equal elements of a row keep their order", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *type : {"f32", "f64", "i8", "i64"})
    for (auto [length, count] : {std::pair<int64_t, int64_t>{100, 100}, {1000, 1000}, {1000, 33}})
      for (const bool descending : {false, true}) {
        CAPTURE(target, type, length, count, descending);
        KernelHarness kernel(sortOf(2, length, count, 1, type, descending), target, /*strict=*/true);
        auto operands = kernel.operands(1, false);
        for (size_t i = 0; i < operands[0].low.size(); ++i)
          operands[0].low[i] = operands[0].high[i] = double(i * 7 % 3) * (i % 2 == 0 ? 1 : -1); // both zeros
        for (size_t i = 0; i < operands[0].integers.size(); ++i)
          operands[0].integers[i] = int64_t(i * 7 % 3) - 1;
        kernel.checkExact(operands);
      }
}

TEST_CASE("A long row is sorted", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const int64_t length = target.starts_with("sm_") ? 10000 : 70000; // the emulator takes minutes for the longer row
  for (const int64_t count : {length, int64_t(5)}) {
    CAPTURE(target, count);
    check(sortOf(1, length, count, 1, "f32", false), target);
  }
}

TEST_CASE("A sort kernel that gives one of the two results stores no other", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const char *result : {"%v : tensor<4x200xf16>", "%i : tensor<4x200xi32>"}) {
    const std::string type = std::string(result).substr(5);
    CAPTURE(target, type);
    check(fmt::format(R"(
halftone.kernel sort @k (tensor<4x200xf16>) -> {} {{
^bb0(%x: tensor<4x200xf16>):
  %v, %i = halftone.sort %x {{axis = 1 : i64}} : tensor<4x200xf16> -> tensor<4x200xf16>, tensor<4x200xi32>
  halftone.yield {}
}})",
                      type, result),
          target);
  }
}
