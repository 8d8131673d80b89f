// The operands of an op that computes all steps of a loop at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

namespace halftone::dialect {

/// One value per operand of an op in a loop: either a stack, with a leading axis of extent `steps`, or a loop-invariant
/// value of the operand's type.
struct StepOperands {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallBitVector isStacked;
  int64_t steps = 0;

  mlir::Value operator[](unsigned number) const { return values[number]; }
  /// The stack of operand `number`; a broadcast if the value is loop-invariant.
  mlir::Value stack(mlir::OpBuilder &builder, mlir::Location loc, unsigned number) const;
};

/// `type` with a leading axis of extent `steps`.
mlir::RankedTensorType stackType(mlir::Type type, int64_t steps);

/// The axes of a stack that correspond to `axes` of its slices.
llvm::SmallVector<int64_t> stackAxes(llvm::ArrayRef<int64_t> axes);
/// Like stackAxes(), preceded by the step axis.
llvm::SmallVector<int64_t> afterSteps(llvm::ArrayRef<int64_t> axes);

/// Clones `op` with stacks for all operands and results. The caller adjusts the axes in its attributes.
mlir::Operation *cloneOfStacks(mlir::OpBuilder &builder, mlir::Operation *op, const StepOperands &operands);

/// The results of the clone.
llvm::SmallVector<mlir::Value> resultsOf(mlir::Operation *copy);

/// Merges the step axis of a stack into the slices' first axis, for ops that treat the elements of that axis
/// independently; and splits it again.
mlir::Value joinSteps(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stack);
mlir::Value splitSteps(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value joined, int64_t steps);

} // namespace halftone::dialect
