// The rule for windows that are read in place.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Returns true if only reductions that keep the last axis read `op`, directly or through elementwise ops: their
/// kernels support windows.
static bool isReducedBeforeLast(Operation *op, int depth = 0) {
  constexpr int deepest = 4;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<ReduceOp>(user))
      return !llvm::is_contained(reduce.getAxes(), cast<RankedTensorType>(reduce.getOperand().getType()).getRank() - 1);
    return isa<ElementwiseOpInterface>(user) && user->getBlock() == op->getBlock() && depth < deepest &&
           isReducedBeforeLast(user, depth + 1);
  });
}

/// Returns true if all readers of `op` read the image through the window: matmuls with the window as left operand, if
/// those of the target support it; elementwise ops; sums over taps; and broadcasts for sums over taps.
static bool isReadInPlace(const FusionState &state, WindowOp op) {
  const auto isMatrix = [&](Operation *reader) {
    auto contract = dyn_cast<ContractOp>(reader);
    return contract && reader->getBlock() == &state.block && state.target.lowerings().readsWindows() &&
           windowOf(contract) == op && contract.getRhs() != contract.getLhs();
  };
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp>(user))
      return llvm::all_of(user->getUsers(), isMatrix);
    if (user->getBlock() != &state.block)
      return false;
    return isa<ElementwiseOpInterface, ReduceOp>(user) || isMatrix(user) ||
           (isa<BroadcastOp>(user) && isReducedBeforeLast(user));
  });
}

/// Clones a window that all readers read in place, and a reshape of it, into the readers. The image is read from
/// memory, so that no element of it is computed once per tap.
RuleResult readWindowInPlace(FusionState &state, Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Operation *producer = reshape.getX().getDefiningOp();
    if (!isa_and_nonnull<WindowOp>(producer) || !state.cloned.isMarked(producer))
      return RuleResult::declined;
    state.cloned.markChain(op);
    return RuleResult::applied;
  }
  auto window = dyn_cast<WindowOp>(op);
  if (!window || state.cloned.isStored(op))
    return RuleResult::declined;
  if (!isReadInPlace(state, window))
    return RuleResult::because("a reader does not read the image through the window");
  if (failed(storeOperand(state, window.getXMutable(), "a window reads its image from memory")))
    return RuleResult::failed;
  state.cloned.markChain(op);
  return RuleResult::applied;
}

} // namespace halftone::compiler
