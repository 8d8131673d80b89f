// Computes the dependencies between the launches of a block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LaunchOrder.h"
#include "dialect/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

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

/// Returns nullopt for a result of the block.
std::optional<LocalValue> LaunchOrder::localValue(Value value, size_t producer) const {
  const auto type = cast<RankedTensorType>(value.getType());
  llvm::SmallSetVector<size_t, 4> found;
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      while (user->getBlock() != block)
        user = user->getParentOp();
      auto reader = index.find(user);
      if (reader == index.end())
        return std::nullopt; // the terminator
      if (isa<ReshapeOp>(user))
        open.push_back(user->getResult(0));
      else
        found.insert(reader->second);
    }
  return LocalValue{producer, type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8),
                    SmallVector<size_t, 2>(found.begin(), found.end())};
}

std::vector<LocalValue> LaunchOrder::localValues() const {
  std::vector<LocalValue> values;
  for (auto [position, op] : llvm::enumerate(ops))
    if (!isa<ReshapeOp>(op))
      for (Value result : op->getResults())
        if (std::optional<LocalValue> value = localValue(result, position))
          values.push_back(std::move(*value));
  return values;
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
        waits.orderBefore(reader, writer);
    }
  }
}

void LaunchOrder::apply(DependencyOrder::Urgency *urgency) {
  for (size_t op : waits.sorted(urgency))
    ops[op]->moveBefore(block->getTerminator());
}

static void visitBlock(Block &block, ArrayRef<Replacement> replacements,
                       llvm::function_ref<void(Block &, ArrayRef<Replacement>)> visit) {
  visit(block, replacements);
  DenseMap<Operation *, SmallVector<Replacement>> byProducer;
  for (const Replacement &pair : replacements)
    if (auto result = dyn_cast<OpResult>(pair.fresh); result && isa<WhenOp>(result.getOwner()))
      byProducer[result.getOwner()].push_back(pair);
  for (Operation &op : block) {
    if (!isBranchOrLoop(&op))
      continue;
    for (Region &region : op.getRegions()) {
      SmallVector<Replacement> inner = byProducer.lookup(&op);
      for (Replacement &pair : inner)
        pair.fresh = region.front().getTerminator()->getOperand(cast<OpResult>(pair.fresh).getResultNumber());
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op); loop && &region == loop.getLoopRegions().back())
        for (auto [carry, next] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
          inner.push_back({carry, next});
      visitBlock(region.front(), inner, visit);
    }
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
