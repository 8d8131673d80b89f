// Blocks for CPU cores: large enough to amortize the overhead per block, and enough of them to share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"

namespace halftone::compiler {
struct CpuTarget;

/// A part of CpuTarget, since the tiles of windows depend on its facts.
class CpuBlocking : public Blocking {
public:
  /// The tile of a product whose left operand is a window read from the image (WindowRead::image) consists of whole
  /// lines. In other tiles m is a multiple of 4 and at most 192, and n is a multiple of 64 and at most 256. The axes
  /// are divided into equal parts, as large as allowed (along M one part or an even number of them). Tiles are halved
  /// while there are fewer than 16 blocks (4 if the tile becomes short) and a block keeps at least 2^17 multiply-adds
  /// or 2^16 elements of the right operand.
  MatmulTile matmulTile(const MatmulTraits &traits) const override;
  /// Two or more if the product has fewer than 16 blocks and K is above 8192: enough for 16 blocks of the largest
  /// tiles, unless their work would be below that of a block (see `matmulTile`).
  int64_t depthParts(const MatmulTraits &traits) const override;
  std::optional<AttentionTile> attentionTile(const AttentionTraits &traits) const override;
  /// Eight rows per 128 rows of the batch or, if that is more, per MiB of weights; at most 24, and at most half of the
  /// batch. nullopt if the weights have more than 4 MiB in the form in which they are multiplied, or more than 256 KiB
  /// with fewer than 4 rows, for which packing does not pay.
  std::optional<int64_t> recurrenceRows(const RecurrenceTraits &traits) const override;
  LoopBlocks loopBlocks(const LoopSpace &space) const override;
  int64_t rowBlock(int64_t rows, int64_t columns) const override;
  int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const override;
  /// At least 8192 elements per block, at most 128 blocks: each block writes a partial result, which is read again.
  int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const override;

protected:
  virtual const CpuTarget &target() const = 0;
};

} // namespace halftone::compiler
