// simplify: canonicalization, algebraic rewrites, common subexpressions, loops, dead code. All bit-exact.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ExactRewrites.h"
#include "compiler/passes/LoopRewrites.h"
#include "compiler/passes/Passes.h"
#include "dialect/ExactRewrites.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class Simplify : public impl::SimplifyPassBase<Simplify> {
  LogicalResult initialize(MLIRContext *context) override;
  void runOnModule() override;

  FrozenRewritePatternSet patterns;
};

LogicalResult Simplify::initialize(MLIRContext *context) {
  RewritePatternSet set(context);
  populateWhenResults(set);
  populateExactRewrites(set);
  populateEmptyRewrites(set);
  populateJoinPaddedSlices(set);
  patterns = std::move(set);
  return success();
}

void Simplify::runOnModule() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Merging equal values enables new rewrites, and vice versa.
  for (bool changed = true; changed;) {
    if (failed(applyPatternsGreedily(getOperation(), patterns, config))) {
      getOperation().emitError() << "simplify did not converge";
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &changed);
    changed |= simplifyLoops(getOperation());
  }
}

} // namespace
} // namespace halftone::compiler
