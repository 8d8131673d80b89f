// The only way to change the results of a `when`: a new op takes over its regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

namespace halftone::compiler {

/// Replaces `when` by an op with the same condition, attributes and regions, and returns it. Its results are those of
/// `when` that `dropped` does not mark, in order, followed by one for each value of `onThen`: the then-region yields
/// that value, the else-region the value of `onElse` at the same position, of the same type. Dropped results must have
/// no users.
dialect::WhenOp replaceResults(mlir::RewriterBase &rewriter, dialect::WhenOp when, const llvm::BitVector &dropped,
                               mlir::ValueRange onThen = {}, mlir::ValueRange onElse = {});

/// Like replaceResults, with all results kept.
dialect::WhenOp addResults(mlir::RewriterBase &rewriter, dialect::WhenOp when, mlir::ValueRange onThen,
                           mlir::ValueRange onElse);

} // namespace halftone::compiler
