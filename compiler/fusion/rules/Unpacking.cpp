// Elementwise ops on packed weights, which contractions take as prologues regardless of how many tensors they read.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Marks gathers of rows, one for each row of the weight, from a tensor in memory: the contraction performs them as
/// well.
static void markGatherOfRows(FusionState &state, Value value) {
  Operation *op = value.getDefiningOp();
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!op || op->getBlock() != &state.block || state.cloned.escapes(op) || !(isa<CastOp>(op) || gather) ||
      (gather && !isa<BlockArgument>(gather.getX())))
    return;
  state.cloned.markUnpacking(op);
  markGatherOfRows(state, gather ? gather.getIndices() : op->getOperand(0));
}

/// Returns true if `value` is a packed weight or is computed from one by elementwise ops. Marks those ops.
static bool markUnpackingOf(FusionState &state, Value value) {
  if (PanelsAttr::of(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &state.block || !isa<ElementwiseOpInterface>(op))
    return false;
  if (state.cloned.isUnpacking(op))
    return true;
  SmallVector<Value> others;
  for (Value operand : op->getOperands())
    if (!markUnpackingOf(state, operand))
      others.push_back(operand);
  if (others.size() == op->getNumOperands())
    return false;
  llvm::for_each(others, [&](Value other) { markGatherOfRows(state, other); });
  state.cloned.markUnpacking(op);
  return true;
}

void markUnpacking(FusionState &state) {
  for (ContractOp contract : state.block.getOps<ContractOp>())
    (void)markUnpackingOf(state, contract.getRhs());
}

RuleResult cloneUnpacking(FusionState &state, Operation *op) {
  if (state.cloned.isStored(op) || !state.cloned.isUnpacking(op))
    return RuleResult::declined;
  state.cloned.markChain(op);
  return RuleResult::applied;
}

} // namespace halftone::compiler
