// Cloning of a linalg.generic's body at vector type.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace halftone::compiler {

/// The body's block arguments and indices at the insertion point. With `lanes` > 0 a value that varies is a
/// `vector<lanes x T>`; a value computed from scalars only stays a scalar until it is combined with a vector or
/// yielded.
struct BodyArguments {
  int64_t lanes = 0;
  /// One for each block argument; unused ones may be null. An integer that the body only converts to a float may be
  /// given as that float.
  Values values;
  std::function<Emitted(unsigned dim)> index; // `linalg.index dim` as i64, or as a vector if it varies
  /// The elements of a flat tensor at these linear indices, i64 or a vector of i64; null: the body looks nothing up.
  std::function<Emitted(mlir::tensor::ExtractOp, Emitted indices)> lookup;
};

/// Checks that cloneBody() can clone `generic`'s body. A diagnostic names the first op that is not elementwise, or that
/// uses an outside value other than a launch argument or a constant.
mlir::LogicalResult checkBody(mlir::linalg::GenericOp generic);

/// Clones the ops of `generic`'s body at the insertion point and returns the yielded values. `outer` maps outside
/// values (launch arguments, as i64, and constants) to the new values; index casts are dropped.
Values cloneBody(CodeBuilder &builder, mlir::linalg::GenericOp generic, const BodyArguments &arguments,
                 const mlir::IRMapping &outer);

/// `type` (i64 for index), or a vector of `lanes` of it if lanes > 0.
mlir::Type atLanes(mlir::Type type, int64_t lanes);

} // namespace halftone::compiler
