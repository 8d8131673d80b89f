// The integer keys by which a sort orders elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// The integer type in which the elements of `sort` are compared: i64 if they have 64 bits, otherwise i32.
mlir::Type sortKeyType(dialect::SortOp sort);
/// Emits the ops that compute the key of `x`, an element in the arithmetic type. As unsigned integers, keys are in the
/// order of the sort, and equal elements have equal keys.
mlir::Value buildSortKey(mlir::OpBuilder &builder, mlir::Location loc, dialect::SortOp sort, mlir::Value x);

} // namespace halftone::compiler
