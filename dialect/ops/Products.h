// The dtypes of sums of products: of contractions and convolutions alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// The dtype in which products of this dtype accumulate: f64, f32, i32 or i64.
mlir::Type productAccumulator(mlir::Type element);
/// Whether `op` may multiply elements of its two operands' dtypes and give its result's, when each sum has `depth`
/// products. Emits an error if not.
llvm::LogicalResult verifyProducts(mlir::Operation *op, uint64_t depth);

} // namespace halftone::dialect
