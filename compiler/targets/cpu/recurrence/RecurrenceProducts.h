// The contractions of a recurrence kernel: packing of weights, and products of rows and weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/AttentionPacking.h"
#include "compiler/targets/cpu/attention/AttentionTiles.h"
#include "compiler/targets/cpu/recurrence/RecurrenceRows.h"

namespace halftone::compiler {

class RecurrenceProducts {
public:
  RecurrenceProducts(const ScratchMatrices &matrices, const ScratchMatrix &head, RecurrenceRows &rowsOfBlock);

  /// Packs the weights of all contractions, once per thread and launch.
  void packWeights();
  /// Computes the sums of the block's rows.
  void multiply(mlir::linalg::GenericOp contraction);

private:
  Emitted packWeights(mlir::linalg::GenericOp contraction);
  void packRows(mlir::linalg::GenericOp contraction, const RowsAddress &from, const ScratchMatrix &to);
  Emitted scaleRows(mlir::linalg::GenericOp contraction, const RowsAddress &from, const ScratchMatrix &to);
  Emitted haveSubnormal(mlir::linalg::GenericOp contraction) const;

  KernelFrame &frame;
  const ScratchMatrices &matrices;
  ScratchMatrix head; // two numbers: whether the weights are packed, and a mask of the weights with subnormal bf16
  RecurrenceRows &rowsOfBlock;
  AttentionPacking packing;
  AttentionTiles tiles;
  llvm::SmallVector<mlir::linalg::GenericOp> contractions;
  Emitted subnormal; // the second number of the head
};

} // namespace halftone::compiler
