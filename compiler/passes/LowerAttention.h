// Attention as contractions with a softmax between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// Lowers `attention` to the products of its queries and keys, the softmax over their rows, and the products with its
/// values. Applies if `numerics` fix the order of sums, or if the target has no kernel for the op.
void populateAttentionLowering(mlir::RewritePatternSet &patterns, const Target &target, Numerics numerics);

} // namespace halftone::compiler
