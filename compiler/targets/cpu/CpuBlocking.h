// Blocks for cores: each large enough to be worth handing out, and many enough to share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"

namespace halftone::compiler {

class CpuBlocking : public Blocking {
public:
  /// m is a multiple of 4, n of 64, at most 192 and 256: the axes in equal parts, as large as is allowed (along M one
  /// part or an even number of them); halved while there are fewer than 16 blocks (4, where that takes short ones) and a
  /// block keeps at least 2^17 multiply-adds, or 2^16 elements of the right operand.
  MatmulTile matmulTile(int64_t batch, int64_t m, int64_t n, int64_t k) const override;
  MatmulTile imageTile(int64_t batch, int64_t m, int64_t n, int64_t k, int64_t line) const override;
  /// Two or more if the product has fewer than 16 blocks and K is above 8192: as many as make 16 blocks of the largest
  /// tiles, each worth a block of its own as `matmulTile` says it.
  int64_t depthParts(int64_t batch, int64_t m, int64_t n, int64_t k) const override;
  LoopBlocks loopBlocks(const LoopSpace &space) const override;
  int64_t rowBlock(int64_t rows, int64_t columns) const override;
  int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const override;
  /// At least 8192 elements a block, at most 128 blocks: each block writes a piece, which is read again.
  int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const override;
};

} // namespace halftone::compiler
