// Convolutions as contractions of windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// Lowers `convolution` to a `contract` of a `window`. If `numerics` fix the order of sums, each sum keeps its order;
/// otherwise the gradient of a convolution with respect to its kernel sums over the examples first. `target` must
/// outlive the patterns.
void populateConvolutionLowering(mlir::RewritePatternSet &patterns, const Target &target, Numerics numerics);

/// Splits a convolution with base dilation into convolutions without, one for each phase of its output positions,
/// before it is lowered itself. Products with the implied zeros are dropped.
void populateBaseDilationLowering(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
