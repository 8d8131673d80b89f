// The matrix instructions of NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Mma.h"
#include "llvm/ADT/STLExtras.h"
#include <iterator>

namespace halftone::compiler {

static constexpr MmaInstruction instructions[] = {
    {nvptx::Product::mma_m16n8k16_f16, "mma.m16n8k16.f16", DType::float16, DType::float32, 16, /*isExact=*/false},
    {nvptx::Product::mma_m16n8k16_bf16, "mma.m16n8k16.bf16", DType::bfloat16, DType::float32, 16, /*isExact=*/false},
    {nvptx::Product::mma_m16n8k32_s8, "mma.m16n8k32.s8", DType::int8, DType::int32, 32, /*isExact=*/true},
};

const MmaInstruction *chooseMmaInstruction(const MatmulTraits &traits) {
  const auto fits = [&](const MmaInstruction &each) {
    return traits.lhs == each.factor && traits.rhs == each.factor && traits.accumulator == each.accumulator &&
           (each.isExact ? !traits.computed : !traits.numerics.fixesOrder());
  };
  const auto *found = llvm::find_if(instructions, fits);
  return found == std::end(instructions) ? nullptr : found;
}

const MmaInstruction &mmaInstruction(nvptx::Product product) {
  return *llvm::find_if(instructions, [&](const MmaInstruction &each) { return each.product == product; });
}

std::optional<MatmulTiling> mmaTiling(const MatmulTile &tile, int64_t factorBytes) {
  constexpr int64_t lineBytes = 128;
  return warpTiling(tile, lineBytes / factorBytes);
}

} // namespace halftone::compiler
