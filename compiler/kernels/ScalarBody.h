// The body of a linalg.generic, cloned at vector type.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace halftone::compiler {

/// The body's block arguments and indices at the place to which it is cloned. With `lanes` > 0 a value that varies is a
/// `vector<lanes x T>`; a value computed from scalars alone stays a scalar, until it meets a vector or is yielded.
struct BodyArguments {
  int64_t lanes = 0;
  /// One for each block argument; unused ones may be null. Integers that the body only converts to a float may be given as
  /// that float.
  Values values;
  std::function<Emitted(unsigned dim)> index; // `linalg.index dim`, as i64, or a vector of it when it varies
  /// The elements of a flat tensor at these linear indices, i64 or a vector of it; null: the body looks nothing up.
  std::function<Emitted(mlir::tensor::ExtractOp, Emitted indices)> lookup;
};

/// Whether cloneBody can clone `generic`'s body; a diagnostic names the first op that is not elementwise, or that reads
/// a value from outside which is neither a launch argument nor a constant.
mlir::LogicalResult checkBody(mlir::linalg::GenericOp generic);

/// Clones the ops of `generic`'s body at the builder's place and returns the values that it yields. `outer` maps values
/// from outside the body (launch arguments, as i64, and constants) to their values at the new place; index casts vanish.
Values cloneBody(CodeBuilder &builder, mlir::linalg::GenericOp generic, const BodyArguments &arguments,
                 const mlir::IRMapping &outer);

/// `type` (i64 for index), or a vector of `lanes` of it when lanes > 0.
mlir::Type atLanes(mlir::Type type, int64_t lanes);

} // namespace halftone::compiler
