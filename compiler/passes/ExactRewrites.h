// Bit-exact rewrites of the stock pipeline, in addition to those of dialect/ExactRewrites.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// Removes results of `when` that have no use, or that both regions yield from the same value outside.
void populateWhenResults(mlir::RewritePatternSet &patterns);

/// Replaces values without elements by constants, and likewise reductions, contractions and scatter_adds of such
/// values, so that no kernel has empty operands or results.
void populateEmptyRewrites(mlir::RewritePatternSet &patterns);

/// Rewrites a sum of values that are zero outside a box as a concat, if no two boxes overlap. Overlapping boxes make
/// several concats, and so do other values between them. If there are many, the sum is split where a box begins or
/// ends, and each segment adds up its own terms. Each element is added up in the order of the sum. A scatter_add to
/// adjacent constant indices also counts as such a value.
void populateJoinPaddedSlices(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
