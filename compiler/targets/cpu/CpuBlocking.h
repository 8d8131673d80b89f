// Blocks for cores: each large enough to be worth handing out, and many enough to share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"

namespace halftone::compiler {
struct CpuTarget;

/// A part of CpuTarget, on whose facts the tiles of windows depend.
class CpuBlocking : public Blocking {
public:
  /// A product whose left operand is a window that is read in its image has tiles of whole lines. Of others, m is a multiple of 4, n of 64, at most 192 and 256: the axes in equal parts, as large as is allowed (along M one
  /// part or an even number of them); halved while there are fewer than 16 blocks (4, where that takes short ones) and a
  /// block keeps at least 2^17 multiply-adds, or 2^16 elements of the right operand.
  MatmulTile matmulTile(const MatmulTraits &traits) const override;
  /// Two or more if the product has fewer than 16 blocks and K is above 8192: as many as make 16 blocks of the largest
  /// tiles, each worth a block of its own as `matmulTile` says it.
  int64_t depthParts(const MatmulTraits &traits) const override;
  std::optional<AttentionTile> attentionTile(const AttentionTraits &traits) const override;
  /// Eight rows for each 128 rows of the batch or, if that is more, for each MiB of weights, at most 24 and half of the batch. No code if the weights have more than 4 MiB in the form in
  /// which they are multiplied; fewer than 4 rows do not pay for packing more than 256 KiB.
  std::optional<int64_t> recurrenceRows(const RecurrenceTraits &traits) const override;
  LoopBlocks loopBlocks(const LoopSpace &space) const override;
  int64_t rowBlock(int64_t rows, int64_t columns) const override;
  int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const override;
  /// At least 8192 elements a block, at most 128 blocks: each block writes a piece, which is read again.
  int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const override;

protected:
  virtual const CpuTarget &target() const = 0;
};

} // namespace halftone::compiler
