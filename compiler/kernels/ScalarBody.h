// The body of a linalg.generic, cloned at vector type.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace halftone::compiler {

/// The body's block arguments and indices at the place to which it is cloned. With `lanes` > 0 a value that varies is a
/// `vector<lanes x T>`; a value computed from scalars alone stays a scalar, until it meets a vector or is yielded.
struct BodyArguments {
  int64_t lanes = 0;
  llvm::SmallVector<mlir::Value> values;          // one per block argument; unused ones may be null
  std::function<mlir::Value(unsigned dim)> index; // `linalg.index dim`, as i64, or a vector of it when it varies
  /// The elements of a flat tensor at these places, i64 or a vector of it; null: the body looks nothing up.
  std::function<mlir::Value(mlir::tensor::ExtractOp, mlir::Value places)> lookup;
};

/// Clones the ops of `generic`'s body at the builder's place and returns the values that it yields. `outer` maps values
/// from outside the body (index arguments of the kernel, as i64) to their values at the new place; index casts vanish.
/// Emits a diagnostic on an op that is not elementwise.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> cloneBody(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic,
                                                          const BodyArguments &arguments, const mlir::IRMapping &outer);

/// `type` (i64 for index), or a vector of `lanes` of it when lanes > 0.
mlir::Type atLanes(mlir::Type type, int64_t lanes);

} // namespace halftone::compiler
