// Values that carry a derivative, for the pass and the verifiers that walk a function backward.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Returns true if the element type carries derivatives: floats do, integers and bools do not.
bool isDifferentiable(mlir::Type tensorType);

/// Returns true if no derivative flows back through `op`, so that reaching it from a differentiated value is not an
/// error: `stop_gradient`, ops without operands, and ops without float results (comparisons, integers, random bits).
bool isConstantToGradient(mlir::Operation *op);

/// Combines two cotangents of one value: their sum in its dtype, which for float8 is computed in float32 and rounded.
/// For a value of a `variable` that takes its gradient as its new value, the elementwise maximum. `variable` may be
/// null.
mlir::Value combinedCotangents(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b,
                               VariableOp variable);

} // namespace halftone::dialect
