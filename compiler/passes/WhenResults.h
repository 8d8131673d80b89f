// The one way to change the results of a `when`: an op cannot, so another takes its regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

namespace halftone::compiler {

/// Replaces `when` by one with the same condition, attributes and regions, and returns it. Its results are those of `when`
/// that `dropped` does not mark, in order, and then one for each value of `onThen`: the then-region yields that value, the
/// else-region the value of `onElse` at the same position, of the same type. Nobody may use a dropped result.
dialect::WhenOp replaceResults(mlir::RewriterBase &rewriter, dialect::WhenOp when, const llvm::BitVector &dropped,
                               mlir::ValueRange onThen = {}, mlir::ValueRange onElse = {});

/// As replaceResults, with all results kept.
dialect::WhenOp addResults(mlir::RewriterBase &rewriter, dialect::WhenOp when, mlir::ValueRange onThen,
                           mlir::ValueRange onElse);

} // namespace halftone::compiler
