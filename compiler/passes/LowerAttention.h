// Attention as contractions with a softmax between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// An `attention` becomes the products of its queries and keys, the softmax of their rows, and the products with its
/// values; where `numerics` fix the order of sums, and where the target has no kernel for it.
void populateAttentionLowering(mlir::RewritePatternSet &patterns, const Target &target, Numerics numerics);

} // namespace halftone::compiler
