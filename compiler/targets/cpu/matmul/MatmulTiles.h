// Matrix products with AMX.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulFactors.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"

namespace halftone::compiler {

/// Multiplies operands that are packed in groups, in blocks of two by two tiles of 16 x 16 sums.
class MatmulTiles {
public:
  MatmulTiles(const MatmulBlock &block, const MatmulFactors &factors)
      : block(block), factors(factors), frame(block.frame), lanes(block.sizes.lanes) {}

  /// Called once per call of the kernel: configure() before and release() after all products.
  void configure() const { configureTiles(frame, block.square); }
  void release() const { releaseTiles(frame); }
  /// Computes the sums of the block's whole tile.
  void multiply(const MatmulDepth &depth) const;

private:
  /// 16 columns of B: the address of the groups of index 0 of this slice of K, and the pitch of groups in elements. If
  /// set, `tail` has the groups after the last multiple of 16, contiguous and padded with zeros.
  struct Columns {
    Emitted at, pitch, tail;
  };
  Columns columnsAt(Emitted column, int64_t index, const MatmulDepth &depth) const;
  /// Computes the sums of `down` tiles of rows from `row` on by the columns, the first of which is `column`.
  void multiplySums(Emitted row, int64_t down, Emitted column, llvm::ArrayRef<Columns> columns,
                    const MatmulDepth &depth) const;

  const MatmulBlock &block;
  const MatmulFactors &factors;
  KernelFrame &frame;
  int64_t lanes;
};

} // namespace halftone::compiler
