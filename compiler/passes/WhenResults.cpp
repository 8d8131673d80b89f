// Builds a `when` with other results from the regions of an existing one.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/WhenResults.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

WhenOp replaceResults(RewriterBase &rewriter, WhenOp when, const llvm::BitVector &dropped, ValueRange onThen,
                      ValueRange onElse) {
  auto yieldInstead = [&](Region &region, ValueRange added) {
    Operation *yield = region.front().getTerminator();
    rewriter.modifyOpInPlace(yield, [&] {
      yield->eraseOperands(dropped);
      yield->insertOperands(yield->getNumOperands(), added);
    });
    return yield;
  };
  Operation *yield = yieldInstead(when.getThenRegion(), onThen);
  yieldInstead(when.getElseRegion(), onElse);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(when);
  auto other = WhenOp::create(rewriter, when.getLoc(), yield->getOperandTypes(), when.getCondition());
  other->setDiscardableAttrs(when->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(when.getThenRegion(), other.getThenRegion(), other.getThenRegion().begin());
  rewriter.inlineRegionBefore(when.getElseRegion(), other.getElseRegion(), other.getElseRegion().begin());
  unsigned kept = 0;
  for (OpResult result : when->getResults())
    if (!dropped[result.getResultNumber()])
      rewriter.replaceAllUsesWith(result, other->getResult(kept++));
  rewriter.eraseOp(when);
  return other;
}

WhenOp addResults(RewriterBase &rewriter, WhenOp when, ValueRange onThen, ValueRange onElse) {
  return replaceResults(rewriter, when, llvm::BitVector(when.getNumResults()), onThen, onElse);
}

} // namespace halftone::compiler
