// Matrices of an attention kernel in scratch: where they lie, and what a factor of a product holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/TileProduct.h"

namespace halftone::compiler {

/// Makes the matrices of a kernel, one behind the other from the frame's scratch on, and reads and writes them by vectors.
/// Matrices that are factors of products hold f32. If the product of the schedule is one of pairs, they hold pairs of bf16 instead:
/// neighbours along the depth of the product, the first in the lowest bits. The last pair of an odd depth ends in a 0. For
/// tdpbf16ps a depth is so many whole tiles of pairs, which end in zeros, and matrices have the rows of whole tiles.
class ScratchMatrices {
public:
  explicit ScratchMatrices(KernelFrame &frame);

  /// The next `rows` rows of scratch.
  ScratchMatrix take(Emitted rows, Emitted columns);
  /// The next `rows` rows of scratch in panels of so many columns, a multiple of a vector.
  ScratchMatrix takePanels(Emitted rows, Emitted columns, int64_t panelColumns);
  /// The whole vectors that hold `columns` elements, in elements.
  Emitted padded(Emitted columns) const { return ceilDivide(columns, step) * step; }
  /// How many elements of a factor hold `depth` numbers.
  Emitted groups(Emitted depth) const;
  /// Rows of the tiles that hold `rows` rows of sums.
  Emitted wholeRows(Emitted rows) const { return usesTiles() ? padded(rows) : rows; }
  /// Whether products are made by tiles.
  bool usesTiles() const { return product.usesTiles(); }

  Emitted address(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted load(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  void store(Emitted vector, const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  /// Stores `value` in all elements of `rows` rows.
  void fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const;
  /// Loops over vectors of `columns` elements.
  void forVectors(Emitted columns, llvm::function_ref<void(Emitted)> body) const {
    frame.loop(frame.constant(0), columns, step, body);
  }

  /// Whether a factor has a subnormal number of bf16; null if factors hold f32.
  Emitted hasSubnormal(const ScratchMatrix &factor, Emitted rows, Emitted columns) const;
  /// Whether a factor has no infinity and no NaN.
  Emitted isFinite(const ScratchMatrix &factor, Emitted rows, Emitted columns) const;

  KernelFrame &frame;
  const ProductRow &product; // that multiplies factors
  mlir::VectorType vector;
  Emitted step; // lanes of a vector
  bool pairs;   // whether factors hold pairs

private:
  Emitted next;
};

/// Bytes of scratch of matrices that ScratchMatrices::take() makes.
class AttentionScratch {
public:
  AttentionScratch(const KernelSource &source, const CpuTarget &target);
  void add(int64_t rows, int64_t columns);
  void addPanels(int64_t rows, int64_t columns, int64_t panelColumns) {
    bytes += 4 * rows * roundUp(columns, panelColumns);
  }
  int64_t padded(int64_t columns) const { return roundUp(columns, lanes); }
  /// ScratchMatrices::wholeRows.
  int64_t wholeRows(int64_t rows) const { return usesTiles ? padded(rows) : rows; }
  int64_t bytes = 0;
  bool pairs, usesTiles;

private:
  int64_t lanes;
};

} // namespace halftone::compiler
