// Ops on float8 values in a trace: computed in float32, with rounded results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace halftone::detail {

using EmitOp = llvm::function_ref<mlir::Operation *(llvm::StringRef name, mlir::TypeRange types,
                                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute>)>;

/// Casts the value to this tensor type, if necessary.
mlir::Value converted(EmitOp emit, mlir::Value value, mlir::Type type);

/// Casts a float8 value to float32; other values are unchanged.
mlir::Value widened(EmitOp emit, mlir::Value value);

/// Emits an op and returns its first result. float8 is a storage type: float8 operands enter the op in float32, in
/// which they are exact, and a result whose type is float8, or is inferred from such operands, is rounded to it. Casts
/// take float8 directly, and so does a gather of rows of a variable, which would otherwise be widened as a whole.
mlir::Value emitWithFloat8(EmitOp emit, llvm::StringRef name, mlir::TypeRange types, mlir::ValueRange operands,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// not_implemented_error if the variable's dtype is float8.
void requireTrainableDtype(const VariableImpl &variable);

} // namespace halftone::detail
