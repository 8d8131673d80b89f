// The keys by which a sort orders elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// The integers as which the elements of `sort` are compared: i64 if they have 64 bits, else i32.
mlir::Type sortKeyType(dialect::SortOp sort);
/// The key of `x`, an element in the arithmetic type, as emitted ops. As unsigned integers keys are in the order of the
/// sort, and keys of equal elements are equal.
mlir::Value buildSortKey(mlir::OpBuilder &builder, mlir::Location loc, dialect::SortOp sort, mlir::Value x);

} // namespace halftone::compiler
