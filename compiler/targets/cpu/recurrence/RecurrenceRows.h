// The rows of a recurrence kernel's block: their addresses in each tensor, and loops over them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/recurrence/RecurrencePlan.h"

namespace halftone::compiler {

/// The block's rows of a tensor. Consecutive rows are `pitch` elements of type `unit` apart.
struct RowsAddress {
  Emitted at, pitch;
  mlir::Type unit;
};

class RecurrenceRows {
public:
  RecurrenceRows(ScratchMatrices &matrices, const RecurrencePlan &plan);

  /// Sets the block's rows.
  void setRows(Emitted firstRow, Emitted rows) {
    first = firstRow;
    count = rows;
  }
  /// Sets the address of a carry's current, or next, value for the current step.
  void setCarry(mlir::Value tensor, Emitted at);

  ScratchMatrix matrix(RecurrenceMatrix::Role role, mlir::Value tensor) const;
  /// Returns null if the plan has no such matrix.
  const ScratchMatrix *find(RecurrenceMatrix::Role role, mlir::Value tensor) const;
  /// The rows of a tensor that a generic accesses with `access`, at the frame's step.
  RowsAddress of(mlir::Value tensor, const TensorAccess &access);
  /// The rows of an operand or a result of the kernel in memory, even if its carry is in scratch.
  RowsAddress inMemory(mlir::Value tensor, const TensorAccess &access);
  Emitted row(const RowsAddress &address, Emitted index) {
    return frame.address(address.at, address.unit, index * address.pitch);
  }
  Emitted lookupArgument(int index) {
    return frame.extents[size_t(frame.dims + frame.source.form.blockSizes() + index)];
  }

  /// Loops over the block's rows and sets the frame's index.
  void forRows(llvm::function_ref<void(Emitted row)> body);
  /// Loops over vectors of `elements` elements along `dim`.
  void forColumns(int dim, int64_t elements, llvm::function_ref<void(Emitted column, const Lanes &)> body);
  /// Copies the rows of a tensor with this access.
  void copy(const RowsAddress &from, const RowsAddress &to, const TensorAccess &access, mlir::Type element);

  KernelFrame &frame;
  Emitted count; // of the block's rows

private:
  RowsAddress offsetBy(RowsAddress address, mlir::Value tensor, mlir::Value start);

  const RecurrencePlan &plan;
  Emitted first;
  llvm::DenseMap<std::pair<unsigned, mlir::Value>, ScratchMatrix> scratch; // by role and tensor
  llvm::DenseMap<mlir::Value, TensorStorage> memory;                       // operands and results
  llvm::DenseMap<mlir::Value, Emitted> carries;
};

} // namespace halftone::compiler
