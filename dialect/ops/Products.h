// Accumulator dtypes of sums of products, for contractions and convolutions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// The dtype in which products of this dtype accumulate: f64, f32, i32 or i64.
mlir::Type productAccumulator(mlir::Type element);
/// Verifies that `op` may multiply elements of its operands' dtypes and return its result's dtype, if each sum has
/// `depth` products. Emits an error if not.
llvm::LogicalResult verifyProducts(mlir::Operation *op, uint64_t depth);

} // namespace halftone::dialect
