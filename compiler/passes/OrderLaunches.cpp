// order-launches: the final order, with readers of old values before the writers that may take their place.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = launch @loop_a(%w, %g);  %2 = launch @loop_b(%w);  return %2, %1   (%1 is the new value of %w)
// becomes
//   %2 = launch @loop_b(%w);  %1 = launch @loop_a(%w, %g);  return %2, %1
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_ORDERLAUNCHESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// An old value and what replaces it, both as seen in one block.
struct Replacement {
  Value old, fresh;
};

class BlockOrder {
public:
  explicit BlockOrder(Block &block) : block(block) {
    for (Operation &op : block.without_terminator()) {
      index[&op] = ops.size();
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

  /// Reads of `old`, through reshapes too, go before what makes `fresh`, where nothing else forbids it.
  void readFirst(const Replacement &pair) {
    Operation *producer = pair.fresh.getDefiningOp();
    while (isa_and_nonnull<ReshapeOp>(producer))
      producer = producer->getOperand(0).getDefiningOp();
    if (!producer || producer->getBlock() != &block)
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

  /// The order of the program, changed only where `before` asks for it.
  void apply() {
    std::vector<size_t> missing(ops.size());
    std::vector<std::vector<size_t>> after(ops.size());
    std::set<size_t> ready;
    for (size_t op = 0; op < ops.size(); ++op) {
      missing[op] = before[op].size();
      for (size_t earlier : before[op])
        after[earlier].push_back(op);
      if (!missing[op])
        ready.insert(op);
    }
    while (!ready.empty()) {
      size_t next = *ready.begin();
      ready.erase(ready.begin());
      ops[next]->moveBefore(block.getTerminator());
      for (size_t later : after[next])
        if (--missing[later] == 0)
          ready.insert(later);
    }
  }

private:
  bool waitsFor(size_t op, size_t other) const {
    std::vector<bool> seen(ops.size());
    SmallVector<size_t> open{op};
    while (!open.empty())
      for (size_t earlier : before[open.pop_back_val()]) {
        if (earlier == other)
          return true;
        if (!seen[earlier]) {
          seen[earlier] = true;
          open.push_back(earlier);
        }
      }
    return false;
  }

  Block &block;
  std::vector<Operation *> ops;
  DenseMap<Operation *, size_t> index;
  DenseMap<Value, std::set<size_t>> readers;
  std::vector<std::set<size_t>> before;
};

void order(Block &block, ArrayRef<Replacement> replacements) {
  BlockOrder order(block);
  for (const Replacement &pair : replacements)
    order.readFirst(pair);
  order.apply();
  for (auto when : block.getOps<WhenOp>())
    for (Region &region : when->getRegions()) {
      SmallVector<Replacement> inner;
      for (const Replacement &pair : replacements)
        if (auto result = dyn_cast<OpResult>(pair.fresh); result && result.getOwner() == when)
          inner.push_back({pair.old, region.front().getTerminator()->getOperand(result.getResultNumber())});
      halftone::compiler::order(region.front(), inner);
    }
}

class OrderLaunches : public impl::OrderLaunchesPassBase<OrderLaunches> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return void(getOperation().emitError("expected a function @main"));
    DenseMap<Attribute, Value> old;
    for (BlockArgument argument : main.getArguments())
      if (Attribute variable = main.getArgAttr(argument.getArgNumber(), variableAttr))
        old[variable] = argument;
    SmallVector<Replacement> replacements;
    Block &body = main.getBody().front();
    for (OpOperand &result : body.getTerminator()->getOpOperands())
      if (Value argument = old.lookup(main.getResultAttr(result.getOperandNumber(), variableAttr)))
        replacements.push_back({argument, result.get()});
    order(body, replacements);
  }
};

} // namespace
} // namespace halftone::compiler
