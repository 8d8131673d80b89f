// Ops of float8 values in a trace: they compute in float32, and their results are rounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace halftone::detail {

using EmitOp = llvm::function_ref<mlir::Operation *(llvm::StringRef name, mlir::TypeRange types,
                                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute>)>;

/// The value as a tensor of this type: a cast, unless it is one.
mlir::Value converted(EmitOp emit, mlir::Value value, mlir::Type type);

/// The value in float32 if it is float8, else as it is.
mlir::Value widened(EmitOp emit, mlir::Value value);

/// The first result of the op. float8 is a storage type: float8 operands enter the op in float32, in which they are exact,
/// and a result whose type is float8, or follows from such operands, is rounded to it. Casts take float8 as it is; so does
/// a gather of rows of a variable, which would be widened as a whole.
mlir::Value emitWithFloat8(EmitOp emit, llvm::StringRef name, mlir::TypeRange types, mlir::ValueRange operands,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes);

/// not_implemented_error if the variable's dtype is float8.
void requireTrainableDtype(const VariableImpl &variable);

} // namespace halftone::detail
