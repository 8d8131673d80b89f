// Which values carry a derivative, for the pass and the verifiers that walk a function backward.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// Whether an element type carries derivatives: floats do, integers and bools do not.
bool isDifferentiable(mlir::Type tensorType);

/// Whether nothing flows back through `op`, so that reaching it from a differentiated value is no error:
/// `stop_gradient`, ops without operands, and ops none of whose results is a float (comparisons, integers, random
/// bits).
bool isConstantToGradient(mlir::Operation *op);

/// What two cotangents of one value make: their sum in its dtype, which for float8 is computed in float32 and rounded. For
/// a value of a `variable` that takes its gradient as its new value, the larger of each two elements; `variable` may be null.
mlir::Value combinedCotangents(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b,
                               VariableOp variable);

} // namespace halftone::dialect
