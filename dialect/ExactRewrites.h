// Rewrites that change no bit of any result: the dialect's canonicalization.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::dialect {

/// Neutral elements (x * 1, x / 1, x + -0.0, x - 0.0, and those of integers), double negation, transposes around a
/// contraction that it can read or write itself, selects and `when`s without a choice. Signed zeros, infinities and
/// NaNs come out as before: x + 0.0 and x * 0 stay. The pass simplify of the stock pipeline takes these too.
void populateExactRewrites(mlir::RewritePatternSet &patterns);

/// A contraction of a transposed operand reads the operand itself. So does one of a broadcast operand: batch axes that
/// only the broadcast gives become free axes of the other operand. If free axes have another order then, the result is
/// transposed; its innermost axis stays innermost, else nothing changes. A transpose that swaps the operands' free axes
/// swaps the operands. Part of the exact rewrites.
void populateContractionRewrites(mlir::RewritePatternSet &patterns);

/// Results of `when` that nobody uses or that do not depend on the condition, as MLIR drops those of any op with regions.
void populateWhenRewrites(mlir::RewritePatternSet &patterns);

/// Casts of integers and bools to a wider dtype and back.
void populateIntegerRewrites(mlir::RewritePatternSet &patterns);

/// An op of constants becomes the constant that the interpreter gives, if no legal compile of it gives another: ops that
/// move, choose or compare elements, integer arithmetic, and exactly rounded sums, differences, quotients and roots of
/// f32 and f64. Products stay, since a kernel may fuse them into a sum, and so do casts of floats, which the ledger
/// counts, and results that hold a NaN. Operands and result have at most 64 KiB each, and the result is one that
/// `constant` can hold.
void populateConstantFolding(mlir::RewritePatternSet &patterns);

} // namespace halftone::dialect
