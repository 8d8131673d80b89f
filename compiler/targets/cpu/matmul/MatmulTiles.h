// Products by AMX.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulFactors.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"

namespace halftone::compiler {

/// Multiplies operands packed in groups by tiles of 16 x 16 sums, two by two.
class MatmulTiles {
public:
  MatmulTiles(const MatmulBlock &block, const MatmulFactors &factors)
      : block(block), factors(factors), frame(block.frame), lanes(block.sizes.lanes) {}

  /// Once for each call of the kernel, before and after all products.
  void configure() const { configureTiles(frame, block.square); }
  void release() const { releaseTiles(frame); }
  /// The sums of the whole tile of the block.
  void multiply(const MatmulDepth &depth) const;

private:
  /// 16 columns of B: where the groups of index 0 of this part of K are, and the pitch of groups, in elements. `tail`,
  /// where it is set, has the groups after the last whole 16, with zeros behind them, one after the other.
  struct Columns {
    Emitted at, pitch, tail;
  };
  Columns columnsAt(Emitted column, int64_t index, const MatmulDepth &depth) const;
  /// The sums of `down` tiles of rows from `row` on with the columns, whose first is `column`.
  void multiplySums(Emitted row, int64_t down, Emitted column, llvm::ArrayRef<Columns> columns,
                    const MatmulDepth &depth) const;

  const MatmulBlock &block;
  const MatmulFactors &factors;
  KernelFrame &frame;
  int64_t lanes;
};

} // namespace halftone::compiler
