// Convolutions as contractions of windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// A `convolution` becomes a `contract` of a `window`. If `numerics` fix the order of sums, each sum keeps it; if not, the gradient of a
/// convolution by its kernel sums over the examples first. `target` outlives the patterns.
void populateConvolutionLowering(mlir::RewritePatternSet &patterns, const Target &target, Numerics numerics);

/// A convolution with holes becomes convolutions without, one for each phase of its places, before it is lowered itself.
/// Products with zeros that stand for holes go.
void populateHoleLowering(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
