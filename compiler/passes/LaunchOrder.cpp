// Who waits for whom in a block of launches.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LaunchOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static std::vector<Operation *> opsOf(Block &block) {
  std::vector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  return ops;
}

LaunchOrder::LaunchOrder(Block &block) : ops(opsOf(block)), block(&block), waits(ops.size()) {
  for (auto [position, op] : llvm::enumerate(ops))
    index[op] = position;
  for (size_t position = 0; position < ops.size(); ++position)
    ops[position]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        auto &known = readers[operand];
        if (known.empty() || known.back() != position)
          known.push_back(position);
        Operation *producer = operand.getDefiningOp();
        if (producer && producer->getBlock() == &block && producer != ops[position])
          waits.wait(position, index.lookup(producer));
      }
    });
}

std::optional<size_t> LaunchOrder::positionOf(Operation *op) const {
  auto found = index.find(op);
  return found == index.end() ? std::nullopt : std::optional(found->second);
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
      if (reader != writer)
        waits.goFirst(reader, writer);
    }
  }
}

void LaunchOrder::apply() {
  for (size_t op : settled())
    ops[op]->moveBefore(block->getTerminator());
}

static void visitBlock(Block &block, ArrayRef<Replacement> replacements,
                       llvm::function_ref<void(Block &, ArrayRef<Replacement>)> visit) {
  visit(block, replacements);
  DenseMap<Operation *, SmallVector<Replacement>> byProducer;
  for (const Replacement &pair : replacements)
    if (auto result = dyn_cast<OpResult>(pair.fresh); result && isa<WhenOp>(result.getOwner()))
      byProducer[result.getOwner()].push_back(pair);
  for (auto when : block.getOps<WhenOp>())
    for (Region &region : when->getRegions()) {
      SmallVector<Replacement> inner = byProducer.lookup(when);
      for (Replacement &pair : inner)
        pair.fresh = region.front().getTerminator()->getOperand(cast<OpResult>(pair.fresh).getResultNumber());
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
