// Convolutions as contractions of windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// A `convolution` becomes a `contract` of a `window`. If `strict`, each sum keeps its order; if not, the gradient of a
/// convolution by its kernel sums over the examples first.
void populateConvolutionLowering(mlir::RewritePatternSet &patterns, bool strict);

/// A convolution with holes becomes convolutions without, one for each phase of its places, before it is lowered itself.
/// Products with zeros that stand for holes go.
void populateHoleLowering(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
