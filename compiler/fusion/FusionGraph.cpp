// Dependencies between fusion groups, and their order.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionGraph.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

FusionGraph::FusionGraph(Block &block, const ClonedProducers &cloned) : block(block), cloned(cloned) {
  Operation *collective = nullptr;
  for (Operation &op : block)
    if (isa<CollectiveOpInterface>(op)) {
      if (Operation *before = std::exchange(collective, &op))
        collectiveBefore[&op] = before;
    }
}

FusionGroupId FusionGraph::addOpaque(Operation *op) {
  const FusionGroupId id = merge({}, op, {});
  groups[id].opaque = true;
  return id;
}

FusionGroupId FusionGraph::merge(ArrayRef<FusionGroupId> merged, Operation *op, KernelShape shape) {
  const FusionGroupId id = merged.empty() ? groups.size() : merged.front();
  if (merged.empty()) {
    groups.push_back({{}, joined, false, {}});
    order.append();
  } else if (merged.size() > 1) {
    const size_t left = order.previous(first(merged));
    for (FusionGroupId each : merged)
      order.remove(each);
    order.put(left, id);
  }
  FusionGroup &target = groups[id];
  for (FusionGroupId other : merged.drop_front(merged.empty() ? 0 : 1)) {
    FusionGroup &source = groups[other];
    for (Operation *each : source.ops)
      ids[each] = id;
    llvm::append_range(target.ops, source.ops);
    target.last = std::max(target.last, source.last);
    source.ops.clear();
  }
  if (op) {
    ids[op] = id;
    target.ops.push_back(op);
    target.last = joined++;
  }
  target.shape = std::move(shape);
  return id;
}

void FusionGraph::replace(Operation *op, ArrayRef<Operation *> replacements) {
  const FusionGroupId id = idOf(op);
  FusionGroup &group = groups[id];
  auto *position = group.ops.erase(llvm::find(group.ops, op));
  group.ops.insert(position, replacements.begin(), replacements.end());
  for (Operation *each : replacements) {
    group.last = joined++;
    ids[each] = id;
  }
  ids.erase(op);
}

std::optional<FusionGroupId> FusionGraph::groupOf(Operation *op) const {
  auto found = ids.find(op);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

ArrayRef<Operation *> FusionGraph::producersOf(Operation *op) {
  auto [entry, isNew] = producers.try_emplace(op);
  if (!isNew)
    return entry->second;
  llvm::SetVector<Operation *> found;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    open.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != &block || !seen.insert(producer).second)
          continue;
        if (cloned.isCloned(producer))
          open.push_back(producer);
        else
          found.insert(producer);
      }
    });
  }
  if (auto before = collectiveBefore.find(op); before != collectiveBefore.end())
    found.insert(before->second);
  entry->second.assign(found.begin(), found.end());
  return entry->second;
}

SmallVector<FusionGroupId> FusionGraph::producerKernels(Operation *op) {
  llvm::SetVector<FusionGroupId> found;
  for (Operation *producer : producersOf(op))
    if (const FusionGroupId id = idOf(producer); !groups[id].opaque)
      found.insert(id);
  SmallVector<FusionGroupId> kernels(found.begin(), found.end());
  llvm::sort(kernels, [&](FusionGroupId a, FusionGroupId b) { return groups[a].last > groups[b].last; });
  return kernels;
}

SmallVector<Operation *> FusionGraph::consumersOf(Value value) const {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *here = user;
      while (here && here->getBlock() != &block)
        here = here->getParentOp();
      Operation *consumer = here ? here : user; // a cloned producer may be in an enclosing block
      if (found.insert(consumer) && cloned.isCloned(consumer))
        llvm::append_range(open, consumer->getResults());
    }
  return {found.begin(), found.end()};
}

FusionGroupId FusionGraph::first(ArrayRef<FusionGroupId> ids) const {
  return *llvm::min_element(ids, [&](FusionGroupId a, FusionGroupId b) { return isBefore(a, b); });
}

std::optional<SmallVector<FusionGroupId>> FusionGraph::predecessorsBetween(ArrayRef<FusionGroupId> merged,
                                                                           Operation *op) {
  if (merged.empty())
    return SmallVector<FusionGroupId>();
  const FusionGroupId start = first(merged);
  llvm::SetVector<FusionGroupId> found;
  auto push = [&](Operation *user) {
    for (Operation *producer : producersOf(user)) {
      const FusionGroupId id = idOf(producer);
      if (!llvm::is_contained(merged, id) && isBefore(start, id))
        found.insert(id);
    }
  };
  for (FusionGroupId id : merged)
    if (id != start)
      llvm::for_each(groups[id].ops, push);
  if (op)
    push(op);
  for (size_t next = 0; next < found.size(); ++next)
    for (Operation *each : ArrayRef(groups[found[next]].ops)) {
      for (Operation *producer : producersOf(each))
        if (llvm::is_contained(merged, idOf(producer)))
          return std::nullopt;
      push(each);
    }
  return llvm::to_vector(found);
}

void FusionGraph::moveBefore(SmallVector<FusionGroupId> moving, FusionGroupId id) {
  llvm::sort(moving, [&](FusionGroupId a, FusionGroupId b) { return isBefore(a, b); });
  for (FusionGroupId each : moving)
    order.remove(each);
  order.put(order.previous(id), moving);
}

} // namespace halftone::compiler
