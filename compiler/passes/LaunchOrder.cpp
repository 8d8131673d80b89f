// Who waits for whom in a block of launches.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LaunchOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

LaunchOrder::LaunchOrder(Block &block) : block(&block) {
  for (Operation &op : block.without_terminator()) {
    index[&op] = ops.size();
    leader.push_back(ops.size());
    members.push_back({ops.size()});
    ops.push_back(&op);
  }
  before.resize(ops.size());
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        readers[operand].insert(index.lookup(op));
        if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block && producer != op)
          before[index.lookup(op)].insert(index.lookup(producer));
      }
    });
}

void LaunchOrder::readFirst(const Replacement &pair) {
  Operation *producer = pair.fresh.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  if (!producer || producer->getBlock() != block)
    return;
  size_t writer = index.lookup(producer);
  SmallVector<Value> open{pair.old};
  while (!open.empty()) {
    auto found = readers.find(open.pop_back_val());
    if (found == readers.end())
      continue;
    for (size_t reader : found->second) {
      if (isa<ReshapeOp>(ops[reader]))
        open.push_back(ops[reader]->getResult(0));
      if (reader != writer && !waitsFor(reader, writer))
        before[writer].insert(reader);
    }
  }
}

bool LaunchOrder::waitsFor(size_t op, size_t other) const {
  std::vector<bool> seen(ops.size());
  const size_t wanted = leader[other];
  SmallVector<size_t> open{leader[op]};
  while (!open.empty())
    for (size_t member : members[open.pop_back_val()])
      for (size_t earlier : before[member]) {
        size_t group = leader[earlier];
        if (group == wanted)
          return true;
        if (!seen[group]) {
          seen[group] = true;
          open.push_back(group);
        }
      }
  return false;
}

bool LaunchOrder::gather(size_t op, size_t later) {
  size_t into = leader[op], from = leader[later];
  if (into == from || waitsFor(into, from) || waitsFor(from, into))
    return false;
  for (size_t member : members[from])
    leader[member] = into;
  llvm::append_range(members[into], members[from]);
  llvm::sort(members[into]);
  members[from].clear();
  return true;
}

std::vector<size_t> LaunchOrder::settled() const {
  std::vector<std::set<size_t>> after(ops.size()), waits(ops.size()); // by leader
  std::set<std::pair<size_t, size_t>> ready;                         // first member, leader
  for (size_t op = 0; op < ops.size(); ++op)
    for (size_t earlier : before[op])
      if (leader[earlier] != leader[op]) {
        waits[leader[op]].insert(leader[earlier]);
        after[leader[earlier]].insert(leader[op]);
      }
  std::vector<size_t> missing(ops.size()), order;
  for (size_t op = 0; op < ops.size(); ++op) {
    missing[op] = waits[op].size();
    if (!members[op].empty() && missing[op] == 0)
      ready.insert({members[op].front(), op});
  }
  while (!ready.empty()) {
    size_t next = ready.begin()->second;
    ready.erase(ready.begin());
    llvm::append_range(order, members[next]);
    for (size_t later : after[next])
      if (--missing[later] == 0)
        ready.insert({members[later].front(), later});
  }
  return order;
}

void LaunchOrder::apply() {
  for (size_t op : settled())
    ops[op]->moveBefore(block->getTerminator());
}

static void visitBlock(Block &block, ArrayRef<Replacement> replacements,
                       llvm::function_ref<void(Block &, ArrayRef<Replacement>)> visit) {
  visit(block, replacements);
  for (auto when : block.getOps<WhenOp>())
    for (Region &region : when->getRegions()) {
      SmallVector<Replacement> inner;
      for (const Replacement &pair : replacements)
        if (auto result = dyn_cast<OpResult>(pair.fresh); result && result.getOwner() == when)
          inner.push_back({pair.old, region.front().getTerminator()->getOperand(result.getResultNumber())});
      visitBlock(region.front(), inner, visit);
    }
}

bool forEachLaunchBlock(ModuleOp module, llvm::function_ref<void(Block &, ArrayRef<Replacement>)> visit) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    module.emitError("expected a function @main with a body");
    return false;
  }
  DenseMap<Attribute, Value> old;
  for (BlockArgument argument : main.getArguments())
    for (StringRef tie : {variableAttr, shadowAttr})
      if (Attribute symbol = main.getArgAttr(argument.getArgNumber(), tie))
        old[symbol] = argument;
  SmallVector<Replacement> replacements;
  Block &body = main.getBody().front();
  for (OpOperand &result : body.getTerminator()->getOpOperands())
    for (StringRef tie : {variableAttr, shadowAttr})
      if (Attribute symbol = main.getResultAttr(result.getOperandNumber(), tie))
        if (Value argument = old.lookup(symbol))
          replacements.push_back({argument, result.get()});
  visitBlock(body, replacements, visit);
  return true;
}

} // namespace halftone::compiler
