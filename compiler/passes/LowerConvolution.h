// Convolutions as contractions of windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// A `convolution` becomes a `contract` of a `window`. If `strict`, each sum keeps its order; if not, the gradient of a
/// convolution by its kernel sums over the examples first.
void populateConvolutionLowering(mlir::RewritePatternSet &patterns, bool strict);

} // namespace halftone::compiler
