// Attention kernels: the products of queries and keys, their softmax and the products with the values; or the gradient.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/AttentionWriter.h"
#include "compiler/forms/Forms.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

constexpr double perMultiplyAdd = 0.015, perExponential = 0.3; // nanoseconds

bool isAttention(Operation *op) { return isa<AttentionOp, AttentionGradOp>(op); }

AttentionInputs inputsOf(Operation *op) {
  return isa<AttentionOp>(op) ? AttentionInputs(cast<AttentionOp>(op)) : AttentionInputs(cast<AttentionGradOp>(op));
}

/// The kernel may contain clones of the cheap ops that compute the mask of the attention or the gradient. The other
/// operands are read from memory.
FusionDecision classifyAttention(const FormOps &ops) {
  const KernelBody &body = ops.body;
  Operation *op = body.ops.empty() ? nullptr : body.ops.back();
  if (!op || !isAttention(op))
    return {};
  if (body.own.size() != 1)
    return FusionDecision::declined("an op other than the attention is not a cloned producer");
  const AttentionInputs inputs = inputsOf(op);
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  const auto isFromMemory = [&](Value operand) {
    return operand == inputs.mask || !inBody.contains(operand.getDefiningOp());
  };
  const auto isCheap = [&](Operation *each) { return each == op || (isPointwise(each) && !isTranscendental(each)); };
  if (!llvm::all_of(op->getOperands(), isFromMemory))
    return FusionDecision::declined("an operand other than the mask is not read from memory");
  if (!llvm::all_of(body.ops, isCheap))
    return FusionDecision::declined("an op that computes the mask is not elementwise, or is transcendental");
  const KernelKind kind = isa<AttentionOp>(op) ? KernelKind::attention : KernelKind::attention_grad;
  return KernelShape{kind, SmallVector<int64_t>(inputs.scoreShape()), 0};
}

Type storedElement(Value value) { return storedType(getElementTypeOrSelf(value.getType())); }

/// Normalizes the sums of a row instead of its weights, so that one pass over the keys suffices.
FailureOr<KernelDescription> describeForward(AttentionOp op, KernelOp kernel, const Target &target,
                                             const AttentionTile &tile) {
  OpBuilder builder(op);
  AttentionParts parts(AttentionInputs(op), builder, op.getLoc());
  Expression &e = parts.e;
  const AttentionSoftmax softmax = parts.softmax();
  Value weights = parts.dropped(softmax.raised), sums = parts.sumsOverKeys(weights, op.getV());
  Value mean = e.div(sums, e.broadcast(softmax.total, sums.getType(), {0, 1, 2}));
  Value out = e.cast(e.transpose(mean, {0, 2, 1, 3}), getElementTypeOrSelf(op.getOut().getType()), "attention");
  Value lse = parts.lse(softmax);

  AttentionWriter writer(kernel, AttentionInputs(op));
  writer.declare(op.getQ(), writer.ofQueries);
  writer.declare(op.getK(), writer.ofKeys);
  writer.declare(op.getV(), writer.ofValues);
  const Access sumAccess{batchDim, groupDim, headDim, queryDim, widthDim};
  ValueNode *scoreNode = writer.node(softmax.scores, writer.points, writer.products);
  ValueNode *largestNode = writer.node(softmax.largest, writer.rows, {}),
            *raisedNode = writer.node(softmax.raised, writer.points, {});
  ValueNode *totalNode = writer.node(softmax.total, writer.rows, {}),
            *weightNode = writer.node(weights, writer.points, {});
  SmallVector<KernelResult> results;
  for (Value yielded : kernel.getBody().front().getTerminator()->getOperands()) {
    const bool isOut = yielded == op.getOut();
    const Access &access = isOut ? writer.ofOut : writer.rows;
    results.push_back({writer.node(isOut ? out : lse, access, sumAccess), storedElement(yielded), access, "", {}});
  }
  ValueNode *outNode = writer.node(out, writer.ofOut, sumAccess); // created even if no result needs the contraction
  KernelForm form;
  form.kind = KernelKind::attention;
  form.schedule = target.schedule(kernel.getContext(), attentionTraits(AttentionInputs(op)));
  writer.begin(form, results, {weightNode, totalNode, outNode});
  writer.contract(writer.operand(op.getQ()), writer.operand(op.getK()), writer.points, {depthDim});
  writer.add(scoreNode, writer.points);
  writer.add(largestNode, writer.rows);
  Value factors = writer.add(raisedNode, writer.points);
  writer.add(totalNode, writer.rows);
  if (weightNode != raisedNode)
    factors = writer.add(weightNode, writer.points);
  writer.contract(writer.inScores(factors), writer.operand(op.getV()), sumAccess, {keyDim});
  const int64_t grid = writer.extent(batchDim) * writer.extent(groupDim) * writer.extent(headDim) *
                       ceilDivide(writer.extent(queryDim), tile.queries);
  const auto products = double(writer.extent(depthDim) + writer.extent(widthDim));
  return writer.finish(target, {tile.queries, tile.keys}, grid, products * perMultiplyAdd + perExponential);
}

FailureOr<KernelDescription> describeGradient(AttentionGradOp op, KernelOp kernel, const Target &target,
                                              const AttentionTile &given) {
  OpBuilder builder(op);
  AttentionParts parts(AttentionInputs(op), builder, op.getLoc());
  const AttentionScoreGradients values = parts.scoreGradients(op.getLse(), op.getByOut(), op.getDelta());
  const int64_t partCount = partsOfQueries(op);
  const SmallVector<Value, 3> gradients = parts.gradients(values, op.getByOut(), getElementTypeOrSelf(op.getByK()));

  AttentionWriter writer(kernel, AttentionInputs(op));
  writer.declare(op.getQ(), writer.ofQueries);
  writer.declare(op.getK(), writer.ofKeys);
  writer.declare(op.getV(), writer.ofValues);
  writer.declare(op.getByOut(), writer.ofOut);
  const Access sumAccess{batchDim, groupDim, headDim, queryDim, depthDim};
  const Access keySums{batchDim, groupDim, keyDim, depthDim}, valueSums{batchDim, groupDim, keyDim, widthDim};
  ValueNode *scoreNode = writer.node(values.scores, writer.points, writer.products);
  ValueNode *raisedNode = writer.node(values.raised, writer.points, {});
  ValueNode *totalNode = values.total ? writer.node(values.total, writer.rows, {}) : nullptr;
  ValueNode *weightNode = writer.node(values.kept, writer.points, {});
  ValueNode *gradientNode = writer.node(values.scoreGradients, writer.points, writer.products);
  const std::array<ValueNode *, 3> all{writer.node(gradients[0], writer.ofQueries, sumAccess),
                                       writer.node(gradients[1], writer.ofKeys, keySums),
                                       writer.node(gradients[2], writer.ofValues, valueSums)};
  const std::array<Access, 3> accesses{writer.ofQueries, writer.ofKeys, writer.ofValues};
  SmallVector<KernelResult> results;
  for (Value yielded : kernel.getBody().front().getTerminator()->getOperands()) {
    const size_t number = cast<OpResult>(yielded).getResultNumber();
    const bool isInParts = partCount > 0 && yielded != op.getByQ();
    results.push_back({all[number], storedElement(yielded), accesses[number], isInParts ? "sum" : "", {}});
  }
  SmallVector<ValueNode *> others{weightNode, gradientNode};
  others.append(all.begin(), all.end());
  KernelForm form;
  form.kind = KernelKind::attention_grad;
  AttentionTraits traits = attentionTraits(AttentionInputs(op)); // of all queries, not of one part
  traits.isGradient = true;
  form.schedule = target.schedule(kernel.getContext(), traits);
  writer.begin(form, results, others);
  writer.contract(writer.operand(op.getQ()), writer.operand(op.getK()), writer.points, {depthDim});
  writer.add(scoreNode, writer.points);
  Value weights = writer.add(raisedNode, writer.points);
  if (totalNode)
    writer.add(totalNode, writer.rows);
  if (weightNode != raisedNode)
    weights = writer.add(weightNode, writer.points);
  writer.contract(writer.operand(op.getByOut()), writer.operand(op.getV()), writer.points, {widthDim});
  Value scoreGradients = writer.add(gradientNode, writer.points);
  writer.contract(writer.inScores(scoreGradients), writer.operand(op.getK()), sumAccess, {keyDim});
  writer.contract(writer.inScores(scoreGradients), writer.operand(op.getQ()), keySums, {headDim, queryDim});
  writer.contract(writer.inScores(weights), writer.operand(op.getByOut()), valueSums, {headDim, queryDim});
  constexpr int64_t minQueries = 16; // lanes run along queries
  const AttentionTile tile{std::max(minQueries, given.queries), given.keys};
  const auto products = double(3 * writer.extent(depthDim) + 2 * writer.extent(widthDim));
  const int64_t blocks = std::max<int64_t>(partCount, 1); // per head of keys
  return writer.finish(target, {tile.queries, tile.keys, blocks},
                       writer.extent(batchDim) * writer.extent(groupDim) * blocks,
                       products * perMultiplyAdd + perExponential);
}

/// Describes a copy of the kernel, in which the attention is expanded to ordinary ops.
FailureOr<KernelDescription> describeAttention(KernelOp original, const Target &target, Numerics numerics) {
  OwningOpRef<KernelOp> kernel(cast<KernelOp>(original->clone()));
  Operation &op = *llvm::find_if(kernel->getBody().front(), [](Operation &each) { return isAttention(&each); });
  AttentionTraits traits = attentionTraits(inputsOf(&op));
  const auto tile = numerics.fixesOrder() ? std::nullopt : target.blocking(numerics).attentionTile(traits);
  if (!tile)
    return emitError(original.getLoc(), "the target has no attention kernel for these extents; expected normalize to "
                                        "have expanded the op into contractions");
  if (auto forward = dyn_cast<AttentionOp>(op))
    return describeForward(forward, *kernel, target, *tile);
  auto gradient = cast<AttentionGradOp>(op);
  if (const int64_t parts = partsOfQueries(gradient)) // each block has the queries of one part
    traits.queries = ceilDivide(traits.queries, parts);
  return describeGradient(gradient, *kernel, target, target.blocking(numerics).attentionTile(traits).value_or(*tile));
}

template <class Op> bool holds(Block &ops) { return !ops.getOps<Op>().empty(); }

} // namespace

extern const Form attentionForm = {
    KernelKind::attention, holds<AttentionOp>, classifyAttention, readsNothingInPlace, nullptr, describeAttention};
extern const Form attentionGradForm = {
    KernelKind::attention_grad, holds<AttentionGradOp>, classifyAttention, readsNothingInPlace, nullptr,
    describeAttention};

} // namespace halftone::compiler
