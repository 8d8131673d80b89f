// Splits the gradient of attention with few heads along the queries.
// SPDX-License-Identifier: Apache-2.0
//
//   %by_q, %by_k, %by_v = attention_grad %q, %k, %v ... : k is 1 x 4096 x 1 x 64, bf16
// becomes
//   %by_q, %ks, %vs = attention_grad %q, %k, %v ... : %ks is 16 x 1 x 4096 x 1 x 64, f32
//   %k0 = reduce sum %ks {axes = [0]} : 1 x 4096 x 1 x 64, f32;  %by_k = cast %k0 : bf16;  %by_v likewise
#include "compiler/passes/SplitAttention.h"
#include "compiler/forms/AttentionWriter.h"
#include "dialect/AttentionParts.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// The number of blocks that should share a head of keys. Each part of the queries has enough rows and scores that its
/// partial results take little time compared to its products.
int64_t partsFor(const AttentionInputs &inputs) {
  constexpr int64_t enoughHeads = 8, wantedBlocks = 16, minQueries = 64, minRows = 256, minScores = 256 * 256;
  const SmallVector<int64_t, 4> scores = inputs.scoreShape(); // b, n, t, s
  const int64_t groups = tensorTypeOf(inputs.k).getDimSize(2), heads = scores[0] * groups;
  if (heads == 0 || heads >= enoughHeads)
    return 1;
  const int64_t rows = scores[1] / groups * scores[2];
  return std::max<int64_t>(1, std::min({ceilDivide(wantedBlocks, heads), scores[2] / minQueries, rows / minRows,
                                        rows * scores[3] / minScores}));
}

} // namespace

void splitAttention(AttentionGradOp op, const Blocking &blocking) {
  const AttentionInputs inputs(op);
  const int64_t parts = partsFor(inputs);
  if (parts == 1 || partsOfQueries(op) != 0 || !blocking.attentionTile(attentionTraits(inputs)))
    return;
  const Type sum = op.getScoreType();
  const auto partialsOf = [&](Value result) { return typeOfPartialResults(result.getType(), parts, sum); };
  OpBuilder builder(op);
  Expression e(builder, op.getLoc());
  auto split = AttentionGradOp::create(
      builder, e.loc, TypeRange{op.getByQ().getType(), partialsOf(op.getByK()), partialsOf(op.getByV())}, op.getQ(),
      op.getK(), op.getV(), op.getBias(), op.getMask(), op.getKey(), op.getLse(), op.getByOut(), op.getDelta(),
      op.getCausalAttr(), op.getScaleAttr(), op.getRateAttr());
  const auto joined = [&](Value partials, Type type) {
    const Value whole = e.sum(partials, {0}, sum);
    return whole.getType() == type
               ? whole
               : CastOp::create(builder, e.loc, type, whole, CastKind::storage, "attention").getResult();
  };
  op.getByQ().replaceAllUsesWith(split.getByQ());
  if (!op.getByK().use_empty())
    op.getByK().replaceAllUsesWith(joined(split.getByK(), op.getByK().getType()));
  if (!op.getByV().use_empty())
    op.getByV().replaceAllUsesWith(joined(split.getByV(), op.getByV().getType()));
  op.erase();
}

} // namespace halftone::compiler
