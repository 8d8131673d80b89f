// Products by AMX.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/MatmulFactors.h"
#include "compiler/targets/cpu/MatmulPack.h"

namespace halftone::compiler {

/// Multiplies operands packed in groups by tiles of 16 x 16 sums, two by two.
class MatmulTiles {
public:
  MatmulTiles(const MatmulBlock &block, const MatmulPacking &packing, const MatmulFactors &factors)
      : block(block), packing(packing), factors(factors), frame(block.frame), lanes(block.sizes.lanes) {}

  /// The tiles' shapes, once for each call of the kernel.
  void configure() const;
  void release() const;
  /// The sums of the whole tile of the block.
  void multiply(const MatmulDepth &depth) const;

private:
  /// 16 columns of B: where the groups of index 0 of this part of K are, and the pitch of groups, in elements. `tail`,
  /// where it is set, has the groups after the last whole 16, with zeros behind them, one after the other.
  struct Columns {
    Emitted at, pitch, tail;
  };
  /// Neighbouring AMX tiles of sums: `down` rows of them from `row` on, for each of the columns from `column` on.
  struct Sums {
    Emitted row, column;
    int64_t down;
    llvm::SmallVector<Columns, 2> columns;
    int64_t across() const { return int64_t(columns.size()); }
  };
  /// An instruction of AMX; `tiles` are the numbers of its tiles.
  void instruction(llvm::StringRef what, llvm::ArrayRef<int64_t> tiles, llvm::ArrayRef<Emitted> operands) const;
  Columns columnsAt(Emitted column, int64_t place, const MatmulDepth &depth) const;
  void multiplySums(const Sums &sums, const MatmulDepth &depth) const;
  /// Adds the products of 16 groups, from group `k` of this part of K on.
  void multiplyGroups(const Sums &sums, Emitted k, bool ofTail) const;
  /// Runs `body` for each AMX tile of sums, with the address of its memory.
  void forTiles(const Sums &sums, llvm::function_ref<void(int64_t tile, Emitted at)> body) const;
  void inPairs(Emitted count, llvm::function_ref<void(Emitted, int64_t)> body) const;

  const MatmulBlock &block;
  const MatmulPacking &packing;
  const MatmulFactors &factors;
  KernelFrame &frame;
  int64_t lanes;
};

} // namespace halftone::compiler
