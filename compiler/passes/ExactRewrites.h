// Rewrites of the stock pipeline that change no bit of any result, beside those of dialect/ExactRewrites.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// Results of `when` that nobody uses, or that both regions take from the same value outside, are no results.
void populateWhenResults(mlir::RewritePatternSet &patterns);

/// Values without elements become constants, and so do reductions, contractions and scatter_adds of such values. So no
/// kernel has empty operands or results.
void populateEmptyRewrites(mlir::RewritePatternSet &patterns);

/// A sum of values that are zero outside of a box, where no two boxes overlap, is a concat. Boxes that overlap make several
/// concats, and so do other values between them. If these are many, the sum is cut where a box begins or ends, and each
/// segment adds up its own terms. Each element is added up in the order of the sum. A scatter_add to neighbouring places
/// that are constants is such a value.
void populateJoinPaddedSlices(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
