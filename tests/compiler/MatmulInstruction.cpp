// Shapes of sums on each CPU.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulInstruction.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("Two vectors of columns, and packed windows, are summed for many rows at a time", "[targets]") {
  const auto isTall = [](const char *target, MatmulTraits traits) {
    auto cpu = CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    return sumsTall(*cpu, traits, chooseProduct(*cpu, traits));
  };
  const auto columns = [](int64_t count) {
    return MatmulTraits{DType::float32, DType::float32, DType::float32, 64, count};
  };
  CHECK(isTall("x86-64-v4", columns(32)));
  CHECK(!isTall("x86-64-v4", columns(64)));
  CHECK(!isTall("x86-64-v4", columns(16)));
  CHECK(!isTall("x86-64-v3", columns(32))); // sixteen registers
  MatmulTraits window = columns(64);
  window.window = true;
  CHECK(!isTall("x86-64-v4", window)); // a gradient by the kernel
  window.lhsAlongDepth = true;
  CHECK(isTall("x86-64-v4", window));
}
