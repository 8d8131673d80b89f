// Attention as contractions with a softmax between them.
// SPDX-License-Identifier: Apache-2.0
//
//   %out, %lse = attention %q, %k, %v {scale = 0.125}
// becomes
//   %z = mul (contract %q, %k), 0.125;  %max = reduce max %z {axes = [3]};  %e = exp (sub %z, (broadcast %max))
//   %sum = reduce sum %e {axes = [3]};  %out = transpose (contract (cast (div %e, (broadcast %sum))), %v)
//   %lse = add %max, (log %sum)
#include "compiler/passes/LowerAttention.h"
#include "compiler/forms/AttentionWriter.h"
#include "dialect/AttentionParts.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

struct LowerAttention : OpRewritePattern<AttentionOp> {
  LowerAttention(MLIRContext *context, const Target &target, bool strict)
      : OpRewritePattern(context), target(target), strict(strict) {}
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!strict && target.attentionTile(attentionTraits(AttentionInputs(op))))
      return failure();
    AttentionParts parts(AttentionInputs(op), rewriter, op.getLoc());
    Expression &e = parts.e;
    Value scores = parts.scores();
    Value largest = ReduceOp::create(rewriter, e.loc, op.getLse().getType(), ReduceKind::max, scores,
                                     rewriter.getDenseI64ArrayAttr({3}));
    Value raised = ExpOp::create(rewriter, e.loc, e.sub(scores, parts.ofRows(largest)));
    Value total = e.sum(raised, {3}, op.getScoreType());
    Value weights = parts.dropped(e.div(raised, parts.ofRows(total)));
    const Type element = cast<RankedTensorType>(op.getV().getType()).getElementType();
    if (element != op.getScoreType())
      weights = CastOp::create(rewriter, e.loc, cast<RankedTensorType>(weights.getType()).clone(element), weights,
                               CastKind::storage, "attention");
    Value out = parts.overKeys(weights, op.getV(), 1);
    rewriter.replaceOp(op, {out, e.add(largest, LogOp::create(rewriter, e.loc, total))});
    return success();
  }

  const Target &target;
  bool strict;
};

struct LowerAttentionGrad : OpRewritePattern<AttentionGradOp> {
  LowerAttentionGrad(MLIRContext *context, const Target &target, bool strict)
      : OpRewritePattern(context), target(target), strict(strict) {}
  LogicalResult matchAndRewrite(AttentionGradOp op, PatternRewriter &rewriter) const override {
    if (!strict && target.attentionTile(attentionTraits(AttentionInputs(op))))
      return failure();
    AttentionParts parts(AttentionInputs(op), rewriter, op.getLoc());
    const AttentionSlopes slopes = parts.slopes(op.getLse(), op.getByOut(), op.getDelta());
    rewriter.replaceOp(op, parts.gradients(slopes, op.getByOut()));
    return success();
  }

  const Target &target;
  bool strict;
};

} // namespace

void populateAttentionLowering(RewritePatternSet &patterns, const Target &target, bool strict) {
  patterns.add<LowerAttention, LowerAttentionGrad>(patterns.getContext(), target, strict);
}

} // namespace halftone::compiler
