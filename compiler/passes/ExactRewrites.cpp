// The exact rewrite of `when` results, in addition to those of the dialect.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ExactRewrites.h"
#include "compiler/passes/WhenResults.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

/// Removes results of `when` that are unused, or for which both regions yield the same value from outside.
struct DropWhenResults : OpRewritePattern<WhenOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhenOp op, PatternRewriter &rewriter) const override {
    Operation *onThen = op.getThenRegion().front().getTerminator();
    Operation *onElse = op.getElseRegion().front().getTerminator();
    llvm::BitVector dropped(op.getNumResults());
    for (OpResult result : op->getResults()) {
      Value value = onThen->getOperand(result.getResultNumber());
      bool same = value == onElse->getOperand(result.getResultNumber());
      if (same && !result.use_empty())
        rewriter.replaceAllUsesWith(result, value);
      dropped[result.getResultNumber()] = result.use_empty();
    }
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "all results are used and differ between the regions");
    replaceResults(rewriter, op, dropped);
    return success();
  }
};

} // namespace

void populateWhenResults(RewritePatternSet &patterns) { patterns.add<DropWhenResults>(patterns.getContext()); }

} // namespace halftone::compiler
