// Matrices of an attention kernel in scratch: their allocation, and the format of factors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/TileProduct.h"

namespace halftone::compiler {

/// Allocates the matrices of a kernel consecutively, from the frame's scratch on, and accesses them by vectors.
/// Matrices that are factors of products hold f32. If the schedule's product multiplies pairs, they hold pairs of bf16
/// instead: neighbours along the product's depth, the first in the lowest bits. If the depth is odd, its last pair ends
/// in a 0. For tdpbf16ps the depth is padded with zero pairs to whole tiles, and matrices have the rows of whole tiles.
class ScratchMatrices {
public:
  explicit ScratchMatrices(KernelFrame &frame);

  /// Allocates the next `rows` rows of scratch.
  ScratchMatrix take(Emitted rows, Emitted columns);
  /// Allocates the next `rows` rows of scratch in panels of `panelColumns` columns, a multiple of a vector.
  ScratchMatrix takePanels(Emitted rows, Emitted columns, int64_t panelColumns);
  /// `columns` rounded up to whole vectors, in elements.
  Emitted padded(Emitted columns) const { return ceilDivide(columns, step) * step; }
  /// The number of factor elements that hold `depth` numbers.
  Emitted groups(Emitted depth) const;
  /// `rows` rounded up to whole tiles of sums.
  Emitted wholeRows(Emitted rows) const { return usesTiles() ? padded(rows) : rows; }
  /// Returns true if products use AMX tiles.
  bool usesTiles() const { return product.usesTiles(); }

  Emitted address(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted load(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  void store(Emitted vector, const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  /// Stores `value` to all elements of `rows` rows.
  void fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const;
  /// Loops over vectors of `columns` elements.
  void forVectors(Emitted columns, llvm::function_ref<void(Emitted)> body) const {
    frame.loop(frame.constant(0), columns, step, body);
  }

  /// Whether a factor has a subnormal bf16 element; null if factors hold f32.
  Emitted hasSubnormal(const ScratchMatrix &factor, Emitted rows, Emitted columns) const;
  /// Whether a factor has neither an infinity nor a NaN.
  Emitted isFinite(const ScratchMatrix &factor, Emitted rows, Emitted columns) const;

  KernelFrame &frame;
  const ProductRow &product; // multiplies factors
  mlir::VectorType vector;
  Emitted step; // lanes of a vector
  bool pairs;   // factors hold pairs

private:
  Emitted next;
};

/// The bytes of scratch that ScratchMatrices::take() allocates.
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
