// Lowers attention to contractions with a softmax between them.
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

SmallVector<Value> ordinary(AttentionOp op, OpBuilder &builder) {
  AttentionParts parts(AttentionInputs(op), builder, op.getLoc());
  Expression &e = parts.e;
  const AttentionSoftmax softmax = parts.softmax();
  Value weights = parts.dropped(e.div(softmax.raised, parts.ofRows(softmax.total)));
  const Type element = cast<RankedTensorType>(op.getV().getType()).getElementType();
  if (element != op.getScoreType())
    weights = CastOp::create(builder, e.loc, cast<RankedTensorType>(weights.getType()).clone(element), weights,
                             CastKind::storage, "attention");
  return {parts.overKeys(weights, op.getV(), 1), parts.lse(softmax)};
}

SmallVector<Value> ordinary(AttentionGradOp op, OpBuilder &builder) {
  return SmallVector<Value>(expanded(op, builder));
}

/// Lowers an `attention` or its gradient if the target has no kernel for it.
template <class Op> struct LowerWithoutKernel : OpRewritePattern<Op> {
  LowerWithoutKernel(MLIRContext *context, const Target &target, Numerics numerics)
      : OpRewritePattern<Op>(context), target(target), numerics(numerics) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!numerics.fixesOrder() && target.blocking(numerics).attentionTile(attentionTraits(AttentionInputs(op))))
      return rewriter.notifyMatchFailure(op, "the target has a kernel for it");
    rewriter.replaceOp(op, ordinary(op, rewriter));
    return success();
  }

  const Target &target;
  Numerics numerics;
};

} // namespace

void populateAttentionLowering(RewritePatternSet &patterns, const Target &target, Numerics numerics) {
  patterns.add<LowerWithoutKernel<AttentionOp>, LowerWithoutKernel<AttentionGradOp>>(patterns.getContext(), target,
                                                                                     numerics);
}

} // namespace halftone::compiler
