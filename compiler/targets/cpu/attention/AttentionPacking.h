// Factors of an attention kernel's products: tiles of operands copied to scratch, and matrices in scratch as factors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/attention/ScratchMatrices.h"

namespace halftone::compiler {

/// Writes factors of products as ScratchMatrices describes them, to matrices of it that have room for them.
class AttentionPacking {
public:
  explicit AttentionPacking(const ScratchMatrices &matrices) : frame(matrices.frame), matrices(matrices) {}

  /// Where an operand's tile begins: `count` indices of dim `dim` from `first` on, of the factor `side` of
  /// `contraction`.
  struct Tile {
    mlir::linalg::GenericOp contraction;
    int side, dim;
    Emitted first, count;
  };
  // The tile as a factor. The operand's other index is along its innermost dim.
  /// A row for each index; depth is innermost.
  void copyRows(const Tile &tile, const ScratchMatrix &to) const;
  /// A row for each group of indices, which are the depth.
  void copyDepth(const Tile &tile, const ScratchMatrix &to) const;
  /// A row for each group along the innermost dim, which is the depth. Columns past the tile's end repeat its last
  /// index.
  void copyColumns(const Tile &tile, const ScratchMatrix &to) const;
  // `from`, `rows` rows of `columns` f32, as a factor: itself, or pairs in `to`.
  /// Columns are the depth.
  ScratchMatrix packRows(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to) const;
  /// Rows are the depth.
  ScratchMatrix packDepth(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to) const;
  /// The factor a whose rows are the columns of `from`, in `to` if a product asks for neighbours of its rows side by side.
  MatrixPlace turned(const ScratchMatrix &from, Emitted rows, Emitted depth, const ScratchMatrix &to) const;

private:
  int innermostDim(const Tile &tile) const;
  /// Loops over the elements of a row along the innermost dim, with the lanes of each vector's numbers.
  void forInnermost(const Tile &tile, int64_t numbers, llvm::function_ref<void(Emitted, const Lanes &)> body) const;
  Emitted stored(const Tile &tile, const Lanes &lanes) const;
  Emitted factor(const Tile &tile, const Lanes &lanes) const;
  Emitted narrowed(Emitted numbers) const;
  Emitted interleaved(Emitted first, Emitted second) const;
  Emitted pairOf(Emitted row, Emitted count, llvm::function_ref<Emitted(Emitted)> numbers) const;

  KernelFrame &frame;
  const ScratchMatrices &matrices;
};

} // namespace halftone::compiler
