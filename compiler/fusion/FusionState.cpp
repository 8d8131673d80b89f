// Legality of fusions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionState.h"
#include "compiler/forms/Forms.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Ops of one kernel, without its cloned producers, and the sum of their costs. Each op that joins classifies all of them anew, and
/// LLVM takes more than linear time in the length of a body.
static constexpr size_t mostOwnOps = 256;
static constexpr int64_t mostOwnCost = 6000;

/// The sum of the ops' costs per element (ComputeOpInterface).
static int64_t costOf(ArrayRef<Operation *> ops) {
  int64_t cost = 0;
  for (Operation *op : ops)
    if (auto compute = dyn_cast<ComputeOpInterface>(op))
      cost += compute.getCost();
  return cost;
}

std::optional<KernelShape> FusionState::canFuse(ArrayRef<FusionGroupId> groups, Operation *op) {
  SmallVector<Operation *> own;
  for (FusionGroupId id : groups)
    llvm::append_range(own, graph.group(id).ops);
  if (op)
    own.push_back(op);
  if (own.size() > mostOwnOps || (own.size() > 1 && costOf(own) > mostOwnCost))
    return std::nullopt;
  auto shape = classify(cloned.bodyOf(own), blocking);
  if (!shape)
    return std::nullopt;
  if (!numerics.formsAlone() && shape->kind == KernelKind::row && groups.size() + (op ? 1 : 0) > 1 &&
      ShapedType::getNumElements(ArrayRef(shape->shape).take_front(shape->outerRank)) == 1 &&
      ShapedType::getNumElements(shape->shape) > mostElementsOfOneRow)
    return std::nullopt;
  return shape;
}

std::optional<Fusion> FusionState::plan(ArrayRef<FusionGroupId> groups, Operation *op) {
  auto shape = canFuse(groups, op);
  auto before = shape ? graph.predecessorsBetween(groups, op) : std::nullopt;
  if (!before)
    return std::nullopt;
  return Fusion{llvm::to_vector(groups), op, std::move(*shape), std::move(*before)};
}

FusionGroupId FusionState::fuse(Fusion fusion) {
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

void FusionState::erase(Operation *op) {
  graph.erased(op);
  cloned.erased(op);
  op->erase();
}

} // namespace halftone::compiler
