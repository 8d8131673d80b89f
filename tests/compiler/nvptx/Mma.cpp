// Checks which instructions matrix products use on NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Mma.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("Each step of products by mma.sync has 128 bytes of K, by four warps", "[nvptx]") {
  for (int64_t side : {1, 12, 32, 33, 64, 100, 128})
    for (int64_t bytes : {1, 2}) {
      const auto tiling = mmaTiling({side, side}, bytes);
      REQUIRE(tiling);
      CHECK(tiling->columns >= side);
      CHECK(tiling->depth * bytes == 128);
      CHECK(tiling->threads() == 128);
    }
  CHECK_FALSE(mmaTiling({129, 1}, 2));
}

TEST_CASE("Products of narrow floats are mma.sync unless they are strict, of i8 unless they are computed", "[nvptx]") {
  MatmulTraits traits{DType::bfloat16, DType::bfloat16, DType::float32};
  REQUIRE(chooseMmaInstruction(traits));
  CHECK(chooseMmaInstruction(traits)->name == "mma.m16n8k16.bf16");
  traits.numerics = compiler::Numerics::strict();
  CHECK_FALSE(chooseMmaInstruction(traits));
  traits = {DType::float16, DType::bfloat16, DType::float32};
  CHECK_FALSE(chooseMmaInstruction(traits));
  traits = {DType::float32, DType::float32, DType::float32};
  CHECK_FALSE(chooseMmaInstruction(traits));
  traits = {DType::int8, DType::int8, DType::int32};
  traits.numerics = compiler::Numerics::strict();
  REQUIRE(chooseMmaInstruction(traits));
  CHECK(chooseMmaInstruction(traits)->name == "mma.m16n8k32.s8");
  traits.computed = true;
  CHECK_FALSE(chooseMmaInstruction(traits));
}
