// The tables of fusion rules, and their application to the ops of a block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

constexpr OpRule opRules[] = {
    {"window read in place", true, readWindowInPlace},
    {"recurrence", false, startRecurrence}, // before opaque ops, because all other loops are opaque
    {"opaque", true, keepOpaque},
    {"always cloned", true, cloneAlways},
    {"random key from memory", true, storeRandomKey},
    {"unpacking of a weight", false, cloneUnpacking},
    {"cheap chain", false, cloneCheapChain},
    {"widened by readers", false, cloneWidening},
    {"attention", true, startAttention},
    {"contraction", true, startContraction},
    {"join producers", false, joinProducers},
    {"partial reduction in producer", false, splitReduction},
    {"recompute in readers", false, recomputeInReaders},
    {"start", true, startGroup},
};

constexpr GroupRule groupRules[] = {
    {"reductions to readers", moveReductionsToReaders},
    {"siblings", mergeSiblings},
    {"scalars", mergeScalars},
    {"recompute results", recomputeResults}, // last: needs the final readers of each value
};

} // namespace

LogicalResult applyOpRules(FusionState &state, Operation *op) {
  for (const OpRule &rule : opRules) {
    if (state.numerics.formsAlone() && !rule.inStrict)
      continue;
    const llvm::SaveAndRestore current(state.rule, StringRef(rule.name));
    const RuleResult result = rule.apply(state, op);
    if (result.outcome == RuleResult::applied)
      state.note(op);
    else if (!result.reason.empty())
      state.decline(op, result.reason);
    if (result.outcome != RuleResult::declined)
      return success(result.outcome == RuleResult::applied);
  }
  return failure();
}

LogicalResult storeOperand(FusionState &state, OpOperand &operand, llvm::StringLiteral reason) {
  Operation *producer = operand.get().getDefiningOp(), *user = operand.getOwner();
  if (!producer || !state.cloned.isCloned(producer))
    return success();
  operand.set(state.cloned.materialize(operand.get(), user));
  state.graph.operandsChanged(user);
  Operation *copy = operand.get().getDefiningOp();
  state.decline(copy, reason);
  return state.graph.groupOf(copy) ? success() : applyOpRules(state, copy);
}

LogicalResult applyRules(FusionState &state) {
  storeEscapingConstants(state);
  if (!state.numerics.formsAlone())
    markUnpacking(state);
  for (Operation *op = &state.block.front(); !op->hasTrait<OpTrait::IsTerminator>();) {
    if (!state.graph.groupOf(op) && !state.cloned.isMarked(op) && failed(applyOpRules(state, op)))
      return failure();
    Operation *next = op->getNextNode();
    if (isa<ReduceOp>(op) && !state.graph.groupOf(op)) // splitReduction has replaced it
      state.erase(op);
    op = next;
  }
  if (!state.numerics.formsAlone())
    for (const GroupRule &rule : groupRules) {
      state.rule = rule.name;
      rule.apply(state);
    }
  return success();
}

} // namespace halftone::compiler
