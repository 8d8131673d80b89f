// Maps the ops of a block to items of an ordered list.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/BlockOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace halftone::compiler {

/// Returns the item of `op`. On first use, adds the op and all ops before it that are not in the list yet.
size_t BlockOrder::itemOf(Operation *op) {
  SmallVector<Operation *> fresh;
  Operation *known = op;
  for (; known && !items.contains(known); known = known->getPrevNode())
    fresh.push_back(known);
  size_t left = known ? items.lookup(known) : OrderedList::end;
  for (Operation *each : llvm::reverse(fresh))
    left = items[each] = order.add(left);
  return left;
}

void BlockOrder::sort(SmallVectorImpl<Operation *> &ops) {
  auto depth = [](Operation *op) {
    int64_t levels = 0;
    while ((op = op->getParentOp()))
      ++levels;
    return levels;
  };
  auto *inside = llvm::partition(ops, [&](Operation *op) { return op->getBlock() != &block; });
  std::sort(ops.begin(), inside, [&](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() ? a->isBeforeInBlock(b) : depth(a) < depth(b);
  });
  for (Operation *op : llvm::make_range(inside, ops.end()))
    (void)itemOf(op); // new items may change the labels of others, so all are added before any label is read
  auto byLabel = llvm::map_to_vector(llvm::make_range(inside, ops.end()),
                                     [&](Operation *op) { return std::pair(order.label(items.lookup(op)), op); });
  llvm::sort(byLabel);
  llvm::transform(byLabel, inside, [](const auto &each) { return each.second; });
}

void BlockOrder::erased(Operation *op) {
  if (auto item = items.find(op); item != items.end()) {
    order.remove(item->second);
    items.erase(item);
  }
}

} // namespace halftone::compiler
