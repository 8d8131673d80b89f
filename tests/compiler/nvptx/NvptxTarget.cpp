// The target of NVIDIA GPUs: its name, its key, and the PTX that kernels become.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;
using halftone::testing::KernelHarness;
using halftone::testing::with;

namespace {

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
  CHECK_FALSE((*target)->weightPanels(false, DType::float16, 256, 256).has_value());
  for (const char *name : {"sm_70", "sm_", "sm_80a"}) {
    auto unknown = Target::find(name);
    REQUIRE_FALSE(unknown.isOk());
    CHECK(unknown.status().kind() == ErrorKind::value_error);
    CHECK_THAT(unknown.status().message(), Catch::Contains(name) && Catch::Contains("expected \"sm_80\""));
  }
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

TEST_CASE("Narrow floats are moved eight at a time") {
  for (const char *type : {"f16", "bf16"}) {
    const std::string ptx = KernelHarness(with(multiplyAdd, 1, 5000, type), "sm_80", false).code().code;
    CAPTURE(type, ptx);
    CHECK(countOf(ptx, "ld.global.v4.b32") == 2);
    CHECK(countOf(ptx, "st.global.v4.b32") == 1);
  }
}
