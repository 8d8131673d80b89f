// Bit-exact rewrites: the dialect's canonicalization.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::dialect {

/// Removes neutral elements (x * 1, x / 1, x + -0.0, x - 0.0, and those of integers), double negation, transposes
/// around a contraction that can absorb them, and selects and `when`s without a choice. Signed zeros, infinities and
/// NaNs are preserved: x + 0.0 and x * 0 stay. The pass simplify of the default pipeline uses these too.
void populateExactRewrites(mlir::RewritePatternSet &patterns);

/// Folds transposes and broadcasts into contractions. A contraction of a transposed operand reads the operand itself.
/// So does a contraction of a broadcast operand: batch axes that exist only in the broadcast become free axes of the
/// other operand. If this reorders free axes, the result is transposed; its innermost axis must stay innermost,
/// otherwise nothing changes. A transpose that swaps the operands' free axes swaps the operands. Part of the exact
/// rewrites.
void populateContractionRewrites(mlir::RewritePatternSet &patterns);

/// Removes results of `when` that are unused or do not depend on the condition, as MLIR does for any op with regions.
void populateWhenRewrites(mlir::RewritePatternSet &patterns);

/// Removes casts of integers and bools to a wider dtype and back.
void populateIntegerRewrites(mlir::RewritePatternSet &patterns);

/// Folds an op of constants to the constant that the interpreter gives, if every legal compilation gives the same: ops
/// that move, select or compare elements, integer arithmetic, and correctly rounded sums, differences, quotients and
/// roots of f32 and f64. Not folded are products, since a kernel may fuse them into a sum, casts of floats, which the
/// ledger counts, and results that contain a NaN. Operands and result have at most 64 KiB each, and the result must be
/// one that `constant` can hold.
void populateConstantFolding(mlir::RewritePatternSet &patterns);

} // namespace halftone::dialect
