// The entry point of GPU kernels: predicates, parts of a launch, and kernels with more buffers than parameters.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/GpuAbi.h"
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace halftone;
using halftone::testing::GpuLaunch;
using halftone::testing::KernelHarness;

namespace {

constexpr const char *doubled = R"(
halftone.kernel loop @k (tensor<700xf32>) -> (tensor<700xf32>) {
^bb0(%x: tensor<700xf32>):
  %0 = halftone.add %x, %x : tensor<700xf32>
  halftone.yield %0 : tensor<700xf32>
})";

std::string bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

/// A kernel that adds `count` operands.
std::string sumOf(int count) {
  std::string types, arguments, body, last = "%x0";
  for (int i = 0; i < count; ++i) {
    types += (i ? ", " : "") + std::string("tensor<9xf32>");
    arguments += (i ? ", " : "") + ("%x" + std::to_string(i)) + ": tensor<9xf32>";
    if (i == 0)
      continue;
    const std::string sum = "%s" + std::to_string(i);
    body += "  " + sum + " = halftone.add " + last + ", %x" + std::to_string(i) + " : tensor<9xf32>\n";
    last = sum;
  }
  return "halftone.kernel loop @k (" + types + ") -> (tensor<9xf32>) {\n^bb0(" + arguments + "):\n" + body +
         "  halftone.yield " + last + " : tensor<9xf32>\n}\n";
}

} // namespace

TEST_CASE("A block returns at once if its predicate does not hold", "[kernels]") {
  KernelHarness kernel(doubled, "sm_80", true);
  const GpuLaunch launch{kernel.code(),
                         {bytesOf(std::vector<float>(700, 1.5f))},
                         {700 * sizeof(float)},
                         kernel.description().extents,
                         kernel.description().grid};
  CHECK(runsUnder(launch, /*predicate=*/-1, /*negated=*/false));
  CHECK(runsUnder(launch, -1, true));
  CHECK(runsUnder(launch, 1, false));
  CHECK_FALSE(runsUnder(launch, 0, false));
  CHECK(runsUnder(launch, 0, true));
  CHECK_FALSE(runsUnder(launch, 1, true));
}

TEST_CASE("Every count of parts of a launch finds each block's part", "[kernels]") {
  KernelHarness kernel(doubled, "sm_80", true);
  const GpuLaunch launch{kernel.code(),
                         {bytesOf(std::vector<float>(700, 1.5f))},
                         {700 * sizeof(float)},
                         kernel.description().extents,
                         kernel.description().grid};
  for (int parts : {1, 2, 3, 4, 7, 8, 9, 33})
    CHECK(runOnGpu(launch, parts, unsigned(parts))[0] == bytesOf(std::vector<float>(700, 3.0f)));
}

TEST_CASE("A kernel with more buffers than parameters hold is launched in parts", "[kernels]") {
  constexpr int count = 501;
  REQUIRE_FALSE(takesParameters(count, 0));
  KernelHarness kernel(sumOf(count - 1), "sm_80", true);
  GpuLaunch launch{kernel.code(), {}, {9 * sizeof(float)}, kernel.description().extents, kernel.description().grid};
  for (int i = 1; i < count; ++i)
    launch.operands.push_back(bytesOf(std::vector<float>(9, float(i))));
  CHECK(runOnGpu(launch, 2, 1)[0] == bytesOf(std::vector<float>(9, float((count - 1) * count / 2))));
}
