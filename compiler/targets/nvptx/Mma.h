// The table of instructions by which warps of NVIDIA GPUs multiply matrices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuMatmul.h"
#include "compiler/targets/nvptx/Schedules.h"

namespace halftone::compiler {

/// An instruction by which a warp multiplies a part of a tile: mma.sync of 16 rows and 8 columns.
struct MmaInstruction {
  nvptx::Product product;
  llvm::StringLiteral name; // in reports
  DType factor, accumulator;
  int64_t depth; // indices of K
  bool isExact;  // gives the bits of multiply-adds in order

  int64_t factorBytes() const { return 32 / depth; }
};

/// Null if products are multiply-adds.
const MmaInstruction *chooseMmaInstruction(const MatmulTraits &traits);
const MmaInstruction &mmaInstruction(nvptx::Product product);

/// How warps share a tile that holds `tile`, with factors of `factorBytes`; nullopt if `tile` is larger than all.
std::optional<MatmulTiling> mmaTiling(const MatmulTile &tile, int64_t factorBytes);

} // namespace halftone::compiler
