// The C++ classes of the halftone dialect: everything generated from the .td files, in one header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <functional>

#include "dialect/Enums.h"
#include "dialect/OpTraits.h"
#include "dialect/StepOperands.h"
#include "dialect/WindowSteps.h"

namespace halftone::dialect {
/// Verifies the invariants shared by all collectives.
llvm::LogicalResult verifyCollective(mlir::Operation *op);
} // namespace halftone::dialect

#include "dialect/Dialect.h.inc"
#include "dialect/Interfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Attrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Ops.h.inc"

namespace halftone::dialect {

/// Attribute names on the arguments and results of @main.
inline constexpr llvm::StringLiteral nameAttr = "halftone.name";         // StrAttr: a feed's or fetch's name
inline constexpr llvm::StringLiteral variableAttr = "halftone.variable"; // FlatSymbolRefAttr: represents that variable
/// IntegerAttr, present from inline-layers to differentiate: ops with the same value are rematerialized together.
inline constexpr llvm::StringLiteral rematerializeAttr = "halftone.rematerialize";
inline constexpr llvm::StringLiteral shadowAttr = "halftone.shadow"; // FlatSymbolRefAttr: represents that shadow

/// The stage that a module declares: StringAttr. Passes that leave a stage drop it.
inline constexpr llvm::StringLiteral stageAttr = "halftone.stage";

/// The type, shape and element type of `value`, a ranked tensor.
inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorTypeOf(value).getShape(); }
inline mlir::Type elementTypeOf(mlir::Value value) { return tensorTypeOf(value).getElementType(); }

/// Verifies that a kernel's spec fits its kind and the tiles of its partial reductions; emits an error if not.
llvm::LogicalResult verifyBlocks(KernelOp kernel);

/// Registers this dialect and the func dialect, whose functions its modules use, with the interface that inlines calls.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace halftone::dialect
