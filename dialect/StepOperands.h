// The operands of an op that computes all steps of a loop at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

namespace halftone::dialect {

/// One value for each operand of an op in a loop: its stack, with a leading axis of the extent `steps`, or a value that is the same in
/// all steps, of the operand's type.
struct StepOperands {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallBitVector isStacked;
  int64_t steps = 0;

  mlir::Value operator[](unsigned number) const { return values[number]; }
  /// The stack of operand `number`, which is a broadcast if all steps have one value.
  mlir::Value stack(mlir::OpBuilder &builder, mlir::Location loc, unsigned number) const;
};

/// `type` with a leading axis of the extent `steps`.
mlir::RankedTensorType stackType(mlir::Type type, int64_t steps);

/// `axes` of a value in its stack.
llvm::SmallVector<int64_t> stackAxes(llvm::ArrayRef<int64_t> axes);
/// The same, behind the axis of the steps.
llvm::SmallVector<int64_t> behindSteps(llvm::ArrayRef<int64_t> axes);

/// A copy of `op` whose operands and results all are stacks. The caller moves the axes that its attributes name.
mlir::Operation *cloneOfStacks(mlir::OpBuilder &builder, mlir::Operation *op, const StepOperands &operands);

/// The copy's results.
llvm::SmallVector<mlir::Value> resultsOf(mlir::Operation *copy);

/// A stack whose steps join the elements of the slices' first axis, for ops that treat these apart; and a stack again.
mlir::Value joinSteps(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stack);
mlir::Value splitSteps(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value joined, int64_t steps);

} // namespace halftone::dialect
