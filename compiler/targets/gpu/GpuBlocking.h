// Blocks for the multiprocessors of a GPU: a function of extents and their number alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"

namespace halftone::compiler {

/// Columns of blocks are multiples of 64, so that each block begins at an aligned vector.
class GpuBlocking : public Blocking {
public:
  explicit GpuBlocking(int64_t multiprocessors) : multiprocessors(multiprocessors) {}

  MatmulTile matmulTile(const MatmulTraits &traits) const override;
  /// Two to eight if the product has fewer tiles than half of the multiprocessors and K is 1024 or more: as many as make
  /// so many tiles, each with 256 indices of K or more.
  int64_t depthParts(const MatmulTraits &traits) const override;
  /// About 4096 simple elements a block, and more in large spaces, up to 16384.
  LoopBlocks loopBlocks(const LoopSpace &space) const override;
  /// As many rows as a block's threads have at hand at once: a warp a short row, all threads a long one.
  int64_t rowBlock(int64_t rows, int64_t columns) const override;
  int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const override;
  /// At least 8192 elements a block, at most 256 blocks: each block writes a piece, which is read again.
  int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const override;
  /// Several threads would add to one element.
  bool keepsPartsOfRows() const override { return false; }

private:
  int64_t multiprocessors;
};

} // namespace halftone::compiler
