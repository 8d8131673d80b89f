// Reductions of ops: replace their results by something smaller.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace halftone::tools {

/// The symbols referenced by ops of the module.
mlir::DenseSet<mlir::StringAttr> usedSymbols(mlir::ModuleOp module);
/// The unreferenced functions with a single block, whose type may change.
mlir::SmallVector<mlir::func::FuncOp> freeFunctions(mlir::ModuleOp module);

/// The ops of the functions' own blocks. eraseWithUsers() erases them and everything that depends on them, and makes
/// the values that lose their last user results of the function.
mlir::SmallVector<Part> ownOps(mlir::ModuleOp module);
void eraseWithUsers(mlir::ArrayRef<Part> parts);

/// The ops that can see the function's arguments. Their used results can become arguments.
mlir::SmallVector<Part> capturingOps(mlir::ModuleOp module);
void replaceByArgument(mlir::ArrayRef<Part> parts);

/// The ops whose result has the type of the operand at this index.
template <unsigned index> mlir::SmallVector<Part> opsLikeOperand(mlir::ModuleOp module);
template <unsigned index> void replaceByOperand(mlir::ArrayRef<Part> parts);

/// The ops other than constants for whose result types the dialect has a zero.
mlir::SmallVector<Part> opsLikeZero(mlir::ModuleOp module);
void replaceByZero(mlir::ArrayRef<Part> parts);

/// The constants whose elements are spelled out. The first element replaces all others.
mlir::SmallVector<Part> writtenConstants(mlir::ModuleOp module);
void makeSplats(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
