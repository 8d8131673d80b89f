// Branches and loops: ops whose regions run conditionally or repeatedly, and the values that the regions capture.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Returns true if `op` is a `when`, a `scan` or a `while`; false if it is null.
inline bool isBranchOrLoop(mlir::Operation *op) { return mlir::isa_and_nonnull<WhenOp, ScanOp, WhileOp>(op); }
inline bool isLoop(mlir::Operation *op) { return mlir::isa_and_nonnull<ScanOp, WhileOp>(op); }
/// The maximum nesting depth of loops, which is that of repeats in a plan.
inline constexpr unsigned maxNestedLoops = 8;

/// The captures of an op: values defined outside that its regions use, without duplicates, in order of first use.
llvm::SmallVector<mlir::Value> capturesOf(mlir::Operation *op);

/// The values from which a result of a branch or loop may come: those that the regions yield for it and, for a carry,
/// its init. A scan without steps yields nothing.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::OpResult result);
/// Like the above, for an argument of a loop's region: for a carry the sources of its result, for a slice the stack;
/// none for an index.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::BlockArgument argument);

/// The inverse: the results and arguments that may take their value from an operand of a branch or loop, or from an
/// operand of the yield in one of its regions.
llvm::SmallVector<mlir::Value> targetsOf(mlir::OpOperand &operand);

/// The terms that each step of a scan adds to an f32 or f64 carry, if the carry is a pure sum: the body uses it only in
/// the first addition, and each partial sum only in the next one. In default numerics the terms of all steps may be
/// added in any order. Empty if the carry is not such a sum.
llvm::SmallVector<mlir::Value> addedTerms(ScanOp scan, unsigned carry);

/// The condition that selects the region of a `when` that runs, or decides whether a `while` takes another step; null
/// for a scan.
mlir::Value conditionOf(mlir::Operation *branchOrLoop);

} // namespace halftone::dialect
