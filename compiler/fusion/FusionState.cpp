// Decides which fusions are legal.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionState.h"
#include "compiler/forms/Forms.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Limits on the ops of one kernel, clones excluded, and on the sum of their costs. Each op that joins reclassifies all
/// of them, and LLVM takes superlinear time in the length of a body.
static constexpr size_t maxOwnOps = 256;
static constexpr int64_t maxOwnCost = 6000;

/// The sum of the ops' costs per element (ComputeOpInterface).
static int64_t costOf(ArrayRef<Operation *> ops) {
  int64_t cost = 0;
  for (Operation *op : ops)
    if (auto compute = dyn_cast<ComputeOpInterface>(op))
      cost += compute.getCost();
  return cost;
}

FusionDecision FusionState::canFuse(ArrayRef<FusionGroupId> groups, Operation *op) {
  SmallVector<Operation *> own;
  for (FusionGroupId id : groups)
    llvm::append_range(own, graph.group(id).ops);
  if (op)
    own.push_back(op);
  if (own.size() > maxOwnOps || (own.size() > 1 && costOf(own) > maxOwnCost))
    return FusionDecision::declined("the kernel would be too large");
  FusionDecision decision = classify(cloned.bodyOf(own), blocking);
  if (decision && !numerics.formsAlone() && decision->kind == KernelKind::row && groups.size() + (op ? 1 : 0) > 1 &&
      ShapedType::getNumElements(ArrayRef(decision->shape).take_front(decision->outerRank)) == 1 &&
      ShapedType::getNumElements(decision->shape) > maxElementsOfOneRow)
    return FusionDecision::declined("a single block would compute a long row");
  return decision;
}

std::optional<Fusion> FusionState::plan(ArrayRef<FusionGroupId> groups, Operation *op) {
  FusionDecision decision = canFuse(groups, op);
  auto before = decision ? graph.predecessorsBetween(groups, op) : std::nullopt;
  if (before)
    return Fusion{llvm::to_vector(groups), op, decision.take(), std::move(*before)};
  if (log && !groups.empty()) {
    const std::string reason = decision ? "fusion would create a dependency cycle" : decision.reason();
    if (op)
      log->declined(op, groups.back(), rule, reason);
    else
      log->declined(groups.back(), groups.front(), rule, reason);
  }
  return std::nullopt;
}

FusionGroupId FusionState::fuse(Fusion fusion) {
  if (log) {
    for (FusionGroupId other : ArrayRef(fusion.groups).drop_front(fusion.groups.empty() ? 0 : 1)) {
      log->merged(fusion.groups.front(), other);
      for (Operation *each : graph.group(other).ops)
        note(each);
    }
    if (fusion.op && fusion.groups.empty())
      log->started(fusion.op, rule);
    else if (fusion.op)
      note(fusion.op);
  }
  if (!fusion.before.empty())
    graph.moveBefore(std::move(fusion.before), graph.first(fusion.groups));
  return graph.merge(fusion.groups, fusion.op, std::move(fusion.shape));
}

bool FusionState::tryMerge(FusionGroupId id, FusionGroupId other) {
  std::optional<Fusion> fusion = plan({id, other}, nullptr);
  if (fusion)
    fuse(std::move(*fusion));
  return fusion.has_value();
}

void FusionState::decline(Operation *op, StringRef reason) {
  if (log)
    log->declined(op, rule, reason);
}

void FusionState::keepStored(Operation *op, StringRef reason) {
  if (log)
    log->keptStored(op, rule, reason);
}

void FusionState::decline(Operation *op, FusionGroupId group, StringRef reason) {
  if (log)
    log->declined(op, group, rule, reason.str());
}

void FusionState::note(Operation *op) {
  if (log)
    log->applied(op, rule);
}

void FusionState::erase(Operation *op) {
  graph.erased(op);
  cloned.erased(op);
  if (log)
    log->erased(op);
  op->erase();
}

} // namespace halftone::compiler
