// Loops with transposed operands, which are contiguous along rows: squares with as many rows as a vector has lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/RowVectors.h"

namespace halftone::compiler {

class RowSquares {
public:
  RowSquares(RowPlan &plan, RowVectors &vectors);

  /// Returns true if the kernel is one elementwise phase with operands to transpose.
  bool hasTransposed() const { return !transposed.empty(); }
  /// Emits squares of as many rows as a vector has lanes, if these are adjacent in the transposed operands. `emitRow`
  /// emits the remaining columns of the current row.
  void emit(Emitted rowBegin, Emitted rowEnd, const RowPlan::Columns &columns,
            llvm::function_ref<void(const RowPlan::Columns &)> emitRow);

private:
  void emitSquare(const RowPlan::Columns &columns, llvm::function_ref<void(const RowPlan::Columns &)> emitRow);
  void emitSquareColumns(Emitted first, Emitted column);
  Emitted squareRow(unsigned index, mlir::Type element, Emitted row);

  KernelFrame &frame;
  RowPlan &plan;
  RowVectors &vectors;
  const int vectorDim;
  llvm::SmallVector<unsigned> transposed; // positions of the inputs to transpose
};

} // namespace halftone::compiler
