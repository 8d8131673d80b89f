// Branches and loops: the ops whose regions run on a condition or several times, and the values that the regions read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Whether `op` is a `when`, a `scan` or a `while`; null is none.
inline bool isBranchOrLoop(mlir::Operation *op) { return mlir::isa_and_nonnull<WhenOp, ScanOp, WhileOp>(op); }
inline bool isLoop(mlir::Operation *op) { return mlir::isa_and_nonnull<ScanOp, WhileOp>(op); }
/// How deep loops nest at most: as the repeats of a plan.
inline constexpr unsigned mostNestedLoops = 8;

/// The captures of an op: values from outside that its regions read, each once, in the order of their first uses.
llvm::SmallVector<mlir::Value> capturesOf(mlir::Operation *op);

/// The values that one result of a branch or loop, or one carry of a loop, takes its value of: those that the regions yield for
/// it and, of a carry, its init. A scan without steps yields nothing.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::OpResult result);
/// The same of an argument of a loop's region: of a carry those of its result, of a slice the stack; none of an index.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::BlockArgument argument);

/// The other way round: the results and arguments that take their value of an operand of a branch or loop, or of an operand of
/// the yield in one of its regions.
llvm::SmallVector<mlir::Value> targetsOf(mlir::OpOperand &operand);

/// The terms that each step of a scan adds to a carry of f32 or f64, if that is all that happens to the carry: the body reads it for
/// the first addition alone, and each sum for the next one alone. In default numerics the terms of all steps come in any order.
/// None if the carry is no such sum.
llvm::SmallVector<mlir::Value> addedTerms(ScanOp scan, unsigned carry);

/// The condition that decides which region of a `when` runs, or whether a `while` takes another step; null of a scan.
mlir::Value conditionOf(mlir::Operation *branchOrLoop);

} // namespace halftone::dialect
