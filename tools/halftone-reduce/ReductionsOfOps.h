// The reductions of ops: something smaller takes the place of their results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace halftone::tools {

/// The symbols to which ops of the module refer.
mlir::DenseSet<mlir::StringAttr> usedSymbols(mlir::ModuleOp module);
/// The functions of one block to which nobody refers, so that their type may change.
mlir::SmallVector<mlir::func::FuncOp> freeFunctions(mlir::ModuleOp module);

/// The ops of the functions' own blocks. The function erases them and all that depends on them, and returns the values
/// that lose their last user by it.
mlir::SmallVector<Part> ownOps(mlir::ModuleOp module);
void eraseWithUsers(mlir::ArrayRef<Part> parts);

/// The ops that see the functions' arguments. A result that is used becomes an argument.
mlir::SmallVector<Part> capturingOps(mlir::ModuleOp module);
void replaceByArgument(mlir::ArrayRef<Part> parts);

/// The ops with a result of the type of the operand at this index.
template <unsigned index> mlir::SmallVector<Part> opsLikeOperand(mlir::ModuleOp module);
template <unsigned index> void replaceByOperand(mlir::ArrayRef<Part> parts);

/// The ops other than constants whose dialect has a zero of each result's type.
mlir::SmallVector<Part> opsLikeZero(mlir::ModuleOp module);
void replaceByZero(mlir::ArrayRef<Part> parts);

/// The constants whose elements are written out. The first one takes the place of all.
mlir::SmallVector<Part> writtenConstants(mlir::ModuleOp module);
void makeSplats(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
