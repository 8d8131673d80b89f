// Rules for ops that are cloned into each kernel that reads them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Creates a stored copy of each constant that has users outside of kernels, and replaces those uses.
void storeEscapingConstants(FusionState &state) {
  for (auto constant : llvm::make_early_inc_range(state.block.getOps<ConstantOp>())) {
    if (!isAlwaysCloned(constant) || !state.cloned.escapes(constant))
      continue;
    OpBuilder builder(constant);
    Operation *copy = builder.clone(*constant);
    state.cloned.markStored(copy);
    constant->replaceUsesWithIf(copy, [&](OpOperand &use) { return state.cloned.readsMemory(use.getOwner()); });
  }
}

/// Leaves ops that are always cloned as they are, but stores those that have users outside of kernels.
RuleResult cloneAlways(FusionState &state, Operation *op) {
  if (!isAlwaysCloned(op))
    return RuleResult::declined;
  if (!state.cloned.isStored(op) && !state.cloned.escapes(op))
    return RuleResult::applied;
  state.cloned.markStored(op);
  return RuleResult::because("its value is read from memory");
}

/// Stores the key of random bits, which a kernel reads from memory.
RuleResult storeRandomKey(FusionState &state, Operation *op) {
  auto bits = dyn_cast<RandomBitsOp>(op);
  return bits && failed(storeOperand(state, bits.getKeyMutable(), "a kernel reads the key of random bits from memory"))
             ? RuleResult::failed
             : RuleResult::declined;
}

/// Clones a cheap chain: elementwise ops on values in memory that load few tensors and compute little.
RuleResult cloneCheapChain(FusionState &state, Operation *op) {
  if (state.cloned.isStored(op) || !isa<ElementwiseOpInterface, RandomBitsOp>(op))
    return RuleResult::declined;
  if (state.cloned.escapes(op))
    return RuleResult::because("an op outside of kernels reads the result from memory");
  if (!state.graph.producerKernels(op).empty())
    return RuleResult::because("a kernel computes an operand");
  const KernelBody body = state.cloned.bodyOf(op);
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  DenseSet<Value> loads;
  int64_t transcendentals = 0;
  for (Operation *each : body.ops) {
    transcendentals += isTranscendental(each);
    for (Value operand : each->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) > 1)
        loads.insert(operand);
  }
  if (static_cast<int64_t>(loads.size()) > state.costs.chainLoads ||
      transcendentals > state.costs.chainTranscendentals ||
      static_cast<int64_t>(body.ops.size()) > state.costs.chainOps)
    return RuleResult::because("it loads too many tensors, or has too many ops or transcendental functions");
  state.cloned.markChain(op);
  return RuleResult::applied;
}

/// Clones a rounding cast that widens a large float, so that only the narrow value is stored. Contractions and lookups
/// read stored values, so they must not read the cast.
RuleResult cloneWidening(FusionState &state, Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  if (!cast || state.cloned.isStored(op) || cast.getKind() != CastKind::rounding || state.cloned.escapes(op))
    return RuleResult::declined;
  const Type from = getElementTypeOrSelf(cast.getOperand()), to = getElementTypeOrSelf(cast.getResult());
  const bool isWidening =
      isa<FloatType>(from) && isa<FloatType>(to) && from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (!isWidening || elementsOf(cast.getResult()) < state.costs.largeInput)
    return RuleResult::declined;
  if (!llvm::all_of(op->getUsers(), llvm::IsaPred<ElementwiseOpInterface, ReduceOp>))
    return RuleResult::because("a reader is neither elementwise nor a reduction");
  state.cloned.markChain(op);
  return RuleResult::applied;
}

} // namespace halftone::compiler
