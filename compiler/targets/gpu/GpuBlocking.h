// Blocks for the multiprocessors of a GPU: a function of extents and of the number of multiprocessors only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"

namespace halftone::compiler {

/// Columns of blocks are multiples of 64, so each block begins at an aligned vector.
class GpuBlocking : public Blocking {
public:
  explicit GpuBlocking(int64_t multiprocessors) : multiprocessors(multiprocessors) {}

  MatmulTile matmulTile(const MatmulTraits &traits) const override;
  /// Two to eight if the product has fewer tiles than half of the multiprocessors and K is at least 1024: enough for
  /// that many tiles, each with at least 256 indices of K.
  int64_t depthParts(const MatmulTraits &traits) const override;
  /// About 4096 simple elements per block, and up to 16384 in large spaces.
  LoopBlocks loopBlocks(const LoopSpace &space) const override;
  /// The number of rows that the threads of a block process at once: one warp per short row, all threads for a long
  /// row.
  int64_t rowBlock(int64_t rows, int64_t columns) const override;
  int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const override;
  /// At least 8192 elements per block, at most 256 blocks: each block writes a partial result, which is read again.
  int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const override;
  /// Several threads would add to the same element.
  bool keepsPartsOfRows() const override { return false; }

private:
  int64_t multiprocessors;
};

} // namespace halftone::compiler
