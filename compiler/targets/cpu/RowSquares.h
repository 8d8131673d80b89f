// Loops with operands that are transposed, contiguous along rows: squares of as many rows as a vector has lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/RowVectors.h"

namespace halftone::compiler {

class RowSquares {
public:
  RowSquares(RowPlan &plan, RowVectors &vectors);

  /// Whether the kernel is one elementwise phase with operands to transpose.
  bool hasTransposed() const { return !transposed.empty(); }
  /// As many rows at a time as a vector has lanes, where they are neighbours in the transposed operands. `emitRow` makes the
  /// rest: columns of the present row.
  void emit(Emitted rowBegin, Emitted rowEnd, const RowPlan::Columns &columns,
            llvm::function_ref<void(const RowPlan::Columns &)> emitRow);

private:
  void emitSquare(const RowPlan::Columns &columns, llvm::function_ref<void(const RowPlan::Columns &)> emitRow);
  void emitSquareColumns(Emitted first, Emitted column);
  Emitted squareRow(unsigned place, mlir::Type element, Emitted row);

  KernelFrame &frame;
  RowPlan &plan;
  RowVectors &vectors;
  const int vectorDim;
  llvm::SmallVector<unsigned> transposed; // positions of the inputs to transpose
};

} // namespace halftone::compiler
