// Algebraic rewrites that change no bit of any result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// Neutral elements (x * 1, x / 1, x + -0.0, x - 0.0, and those of integers), double negation, transposes around a
/// contraction that it can read or write itself, selects and `when`s without a choice, results of `when` that nobody
/// uses. Signed zeros, infinities and NaNs come out as before: x + 0.0 and x * 0 stay.
void populateExactRewrites(mlir::RewritePatternSet &patterns);

/// A contraction of a transposed operand reads the operand itself, if that leaves the operand's free axes in order. Part
/// of the exact rewrites.
void populateTransposedOperands(mlir::RewritePatternSet &patterns);

/// Values without elements become constants, and so do reductions, contractions and scatter_adds of such values. So no
/// kernel has empty operands or results.
void populateEmptyRewrites(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
