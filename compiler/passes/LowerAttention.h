// Attention as contractions with a softmax between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::compiler {

/// An `attention` becomes the products of its queries and keys, the softmax of their rows, and the products with its
/// values.
void populateAttentionLowering(mlir::RewritePatternSet &patterns);

} // namespace halftone::compiler
