// Rules that start a kernel with a contraction or an attention, and select the cloned producers that it contains.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Returns true if `op`, an attention or its gradient, computes the elements of its mask where it needs them. The mask
/// must take few ops, and the tensors that they read must be small compared to the scores.
static bool computesMask(FusionState &state, Operation *op, Value mask) {
  const SmallVector<int64_t, 4> scores =
      isa<AttentionOp>(op) ? cast<AttentionOp>(op).getScoreShape() : cast<AttentionGradOp>(op).getScoreShape();
  const KernelBody body = state.cloned.bodyOf(mask.getDefiningOp());
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  const auto isSmall = [&](Value operand) {
    return inBody.contains(operand.getDefiningOp()) || elementsOf(operand) == 1 ||
           elementsOf(operand) * state.costs.scoresPerMaskElement <= ShapedType::getNumElements(scores);
  };
  return !state.numerics.formsAlone() && static_cast<int64_t>(body.ops.size()) <= state.costs.chainOps &&
         llvm::all_of(body.ops, [&](Operation *each) {
           return isPointwise(each) && !isTranscendental(each) && llvm::all_of(each->getOperands(), isSmall);
         });
}

/// Starts a group with an attention or its gradient, which reads its operands from memory, except a mask that it
/// computes.
RuleResult startAttention(FusionState &state, Operation *op) {
  if (!isa<AttentionOp, AttentionGradOp>(op))
    return RuleResult::declined;
  const Value mask = isa<AttentionOp>(op) ? cast<AttentionOp>(op).getMask() : cast<AttentionGradOp>(op).getMask();
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    const bool isComputed =
        operand.get() == mask && producer && state.cloned.isCloned(producer) && computesMask(state, op, mask);
    if (!isComputed &&
        failed(storeOperand(state, operand, "an attention reads its operands from memory, except a cheap mask")))
      return RuleResult::failed;
  }
  state.decline(op, "an attention reads its operands from memory, except a mask that it computes");
  return startGroup(state, op);
}

/// Returns true if a contraction takes the cloned producer of `operand` as its prologue: cheap ops on one tensor of the
/// operand's size, and on scalars.
static bool isPrologue(FusionState &state, OpOperand &operand) {
  const KernelBody body = state.cloned.bodyOf(operand.get().getDefiningOp());
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  DenseSet<Value> loads;
  for (Operation *each : body.ops)
    for (Value read : each->getOperands())
      if (!inBody.contains(read.getDefiningOp()) && elementsOf(read) > 1)
        loads.insert(read);
  return !state.numerics.formsAlone() && llvm::all_of(body.ops, isPrologueOp) && loads.size() == 1 &&
         elementsOf(*loads.begin()) == elementsOf(operand.get());
}

/// Starts a group with a contraction and the prologues of its operands. Other cloned producers are stored.
RuleResult startContraction(FusionState &state, Operation *op) {
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract)
    return RuleResult::declined;
  constexpr llvm::StringLiteral notPrologue =
      "it is not a prologue: elementwise ops, none of them transcendental, on scalars and one tensor of its size";
  const WindowOp window = windowOf(contract);
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || !state.cloned.isCloned(producer) || state.cloned.isUnpacking(producer))
      continue;
    const bool isThroughWindow = operand.getOperandNumber() == 0 && window && state.cloned.isMarked(window);
    if (!isThroughWindow && !isPrologue(state, operand) && failed(storeOperand(state, operand, notPrologue)))
      return RuleResult::failed;
  }
  state.decline(op, "a kernel computes only cloned producers before a contraction");
  return startGroup(state, op);
}

} // namespace halftone::compiler
