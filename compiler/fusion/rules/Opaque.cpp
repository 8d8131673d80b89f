// The rule for ops that are not fused into kernels.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Keeps branches, loops, reshapes, optimization barriers, collectives, and constants that the plan contains. A
/// stored constant with more elements is a splat, which a kernel fills in.
RuleResult keepOpaque(FusionState &state, Operation *op) {
  constexpr int64_t maxConstantElements = 64;
  const bool isConstant =
      isa<ConstantOp>(op) &&
      (!isAlwaysCloned(op) || (state.cloned.isStored(op) && elementsOf(op->getResult(0)) <= maxConstantElements));
  if (!isConstant && !isBranchOrLoop(op) && !isa<ReshapeOp, HoldOp, CollectiveOpInterface>(op))
    return RuleResult::declined;
  state.graph.addOpaque(op);
  return RuleResult::applied;
}

} // namespace halftone::compiler
