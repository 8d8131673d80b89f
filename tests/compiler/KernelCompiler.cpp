// One kernel from text to code: what is refused, and how.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KernelCompiler.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

namespace {
CpuTarget target(std::string_view name) {
  auto found = CpuTarget::find(name);
  REQUIRE(found.isOk());
  return *found;
}
Status refusal(std::string_view text) {
  auto kernel = compileKernel(text, target("host"));
  REQUIRE_FALSE(kernel.isOk());
  CHECK(kernel.status().kind() == ErrorKind::runtime_error);
  return kernel.status();
}
} // namespace

TEST_CASE("Text that is no kernel is refused with MLIR's diagnostics", "[kernels]") {
  CHECK_THAT(refusal("not mlir at all").diagnostics(), Catch::Contains("custom op 'not' is unknown"));
  CHECK_THAT(refusal("module {}").diagnostics(), Catch::Contains("expected one func.func with a body"));
  CHECK_THAT(refusal("func.func @f() { return }").diagnostics(),
             Catch::Contains("expected the string attribute halftone.kind"));
  CHECK_THAT(refusal("func.func @f() attributes {halftone.kind = 7} { return }").diagnostics(),
             Catch::Contains("expected the string attribute halftone.kind"));
  CHECK_THAT(refusal("func.func @f() attributes {halftone.kind = \"poem\"} { return }").diagnostics(),
             Catch::Contains("\"poem\""));
  CHECK_THAT(refusal("func.func private @f()").diagnostics(), Catch::Contains("expected one func.func with a body"));
  CHECK_THAT(refusal("%0 = \"toy.op\"() : () -> f32").diagnostics(), Catch::Contains("unregistered dialect"));
}

TEST_CASE("Keys tell texts and targets apart", "[kernels]") {
  const CpuTarget v3 = target("x86-64-v3"), v4 = target("x86-64-v4");
  CHECK(kernelKey("a", v3) == kernelKey("a", v3));
  CHECK(kernelKey("a", v3) != kernelKey("b", v3));
  CHECK(kernelKey("a", v3) != kernelKey("a", v4));
  CHECK(kernelKey("a", v3).size() == 64);
  CHECK(kernelKey("a", v3).find_first_not_of("0123456789abcdef") == std::string::npos);
}
