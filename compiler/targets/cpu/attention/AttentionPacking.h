// Packing of an attention kernel's factors: tiles of operands, and matrices in scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/attention/ScratchMatrices.h"

namespace halftone::compiler {

/// Writes factors of products, in the format that ScratchMatrices describes, to preallocated matrices in scratch.
class AttentionPacking {
public:
  explicit AttentionPacking(const ScratchMatrices &matrices) : frame(matrices.frame), matrices(matrices) {}

  /// A tile of an operand: `count` indices of dim `dim` from `first` on, of the factor `side` of `contraction`.
  struct Tile {
    mlir::linalg::GenericOp contraction;
    int side, dim;
    Emitted first, count;
  };
  // Pack a tile as a factor. The operand's other index is along its innermost dim.
  /// One row per index; the depth is innermost.
  void copyRows(const Tile &tile, const ScratchMatrix &to) const;
  /// One row per group of indices, which run along the depth.
  void copyDepth(const Tile &tile, const ScratchMatrix &to) const;
  /// One row per group along the innermost dim, which is the depth. Columns past the tile's end repeat its last index.
  void copyColumns(const Tile &tile, const ScratchMatrix &to) const;
  // Return `from`, `rows` rows of `columns` f32, as a factor: itself, or pairs in `to`.
  /// Columns run along the depth.
  ScratchMatrix packRows(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to) const;
  /// Rows run along the depth.
  ScratchMatrix packDepth(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to) const;
  /// The factor a whose rows are the columns of `from`. It is packed to `to` if the product requires adjacent elements
  /// in its rows.
  MatrixAddress transposed(const ScratchMatrix &from, Emitted rows, Emitted depth, const ScratchMatrix &to) const;

private:
  int innermostDim(const Tile &tile) const;
  /// Loops over the elements of a row along the innermost dim, by vectors of `elements` elements.
  void forInnermost(const Tile &tile, int64_t elements, llvm::function_ref<void(Emitted, const Lanes &)> body) const;
  Emitted stored(const Tile &tile, const Lanes &lanes) const;
  Emitted factor(const Tile &tile, const Lanes &lanes) const;
  Emitted narrowed(Emitted elements) const;
  Emitted interleaved(Emitted first, Emitted second) const;
  Emitted pairOf(Emitted row, Emitted count, llvm::function_ref<Emitted(Emitted)> elements) const;

  KernelFrame &frame;
  const ScratchMatrices &matrices;
};

} // namespace halftone::compiler
