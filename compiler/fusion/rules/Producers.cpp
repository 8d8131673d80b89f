// Rules for ops that join the kernels of their producers, and for ops that start a kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Merges `op` with the kernels of its producers, as many as possible, the latest first.
RuleResult joinProducers(FusionState &state, Operation *op) {
  const SmallVector<FusionGroupId> candidates = state.graph.producerKernels(op);
  if (candidates.empty())
    return RuleResult::because(
        "no kernel computes an operand, except through a reshape or another op outside of kernels");
  std::optional<Fusion> fusion = state.plan(candidates, op);
  if (!fusion && candidates.size() > 1) {
    SmallVector<FusionGroupId> taken;
    for (FusionGroupId candidate : candidates) {
      taken.push_back(candidate);
      if (auto larger = state.plan(taken, op))
        fusion = std::move(larger);
      else
        taken.pop_back();
    }
  }
  if (!fusion)
    return RuleResult::because("it cannot be fused with any kernel that computes an operand");
  state.fuse(std::move(*fusion));
  return RuleResult::applied;
}

RuleResult startGroup(FusionState &state, Operation *op) {
  if (state.numerics.formsAlone())
    state.decline(op, "in strict numerics, each op is a separate kernel");
  std::optional<Fusion> fusion = state.plan({}, op);
  if (!fusion) {
    for (OpOperand &operand : op->getOpOperands())
      if (failed(storeOperand(state, operand, "no kernel kind supports the op together with its cloned producers")))
        return RuleResult::failed;
    fusion = state.plan({}, op);
  }
  if (!fusion) {
    op->emitOpError("fits no kernel kind; expected normalize to have rewritten it");
    return RuleResult::failed;
  }
  state.fuse(std::move(*fusion));
  return RuleResult::applied;
}

} // namespace halftone::compiler
