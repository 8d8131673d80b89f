// The rows of a recurrence kernel's block: their addresses in each tensor, and loops over them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/recurrence/RecurrencePlan.h"

namespace halftone::compiler {

/// A block's rows of a tensor. Consecutive rows are `pitch` elements of type `unit` apart.
struct RowsPlace {
  Emitted at, pitch;
  mlir::Type unit;
};

class RecurrencePlaces {
public:
  RecurrencePlaces(ScratchMatrices &matrices, const RecurrencePlan &plan);

  /// Sets the block's rows.
  void standAtRows(Emitted firstRow, Emitted rows) {
    first = firstRow;
    count = rows;
  }
  /// Sets the address of a carry's current, or next, value for the current step.
  void setCarry(mlir::Value tensor, Emitted at);

  ScratchMatrix matrix(RecurrenceMatrix::Role role, mlir::Value tensor) const;
  /// Null if the plan has no such matrix.
  const ScratchMatrix *find(RecurrenceMatrix::Role role, mlir::Value tensor) const;
  /// The rows of a tensor that a generic accesses by `access`, at the frame's step.
  RowsPlace of(mlir::Value tensor, const TensorAccess &access);
  /// The rows of an operand or a result of the kernel in memory, even if its carry is in scratch.
  RowsPlace inMemory(mlir::Value tensor, const TensorAccess &access);
  Emitted row(const RowsPlace &place, Emitted number) {
    return frame.address(place.at, place.unit, number * place.pitch);
  }
  Emitted lookupArgument(int number) {
    return frame.extents[size_t(frame.dims + frame.source.form.blockSizes() + number)];
  }

  /// Loops over the block's rows and sets the frame's index.
  void forRows(llvm::function_ref<void(Emitted row)> body);
  /// Loops over vectors of `numbers` elements along `dim`.
  void forColumns(int dim, int64_t numbers, llvm::function_ref<void(Emitted column, const Lanes &)> body);
  /// Copies the rows of a tensor with this access.
  void copy(const RowsPlace &from, const RowsPlace &to, const TensorAccess &access, mlir::Type element);

  KernelFrame &frame;
  Emitted count; // of the block's rows

private:
  RowsPlace behind(RowsPlace place, mlir::Value tensor, mlir::Value start);

  const RecurrencePlan &plan;
  Emitted first;
  llvm::DenseMap<std::pair<unsigned, mlir::Value>, ScratchMatrix> scratch; // by role and tensor
  llvm::DenseMap<mlir::Value, TensorStorage> memory;                       // operands and results
  llvm::DenseMap<mlir::Value, Emitted> carries;
};

} // namespace halftone::compiler
