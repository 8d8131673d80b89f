// The table of the warp-level matrix instructions of NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuMatmul.h"
#include "compiler/targets/nvptx/Schedules.h"

namespace halftone::compiler {

/// A warp-level instruction that multiplies a part of a tile: mma.sync with 16 rows and 8 columns.
struct MmaInstruction {
  nvptx::Product product;
  llvm::StringLiteral name; // in reports
  DType factor, accumulator;
  int64_t depth; // indices of K
  bool isExact;  // bit-identical to multiply-adds in order

  int64_t factorBytes() const { return 32 / depth; }
};

/// Null if the product should use multiply-adds.
const MmaInstruction *chooseMmaInstruction(const MatmulTraits &traits);
const MmaInstruction &mmaInstruction(nvptx::Product product);

/// The tiling for warps that contains `tile`, with factors of `factorBytes`; nullopt if `tile` is larger than all
/// tilings.
std::optional<MatmulTiling> mmaTiling(const MatmulTile &tile, int64_t factorBytes);

} // namespace halftone::compiler
