// Finds the values that decisions depend on, by a backward walk from each decision.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Decisions.h"
#include "dialect/ControlFlow.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
bool isNarrowFloat(Value value) {
  return isFloat(value) && getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 32;
}

bool keepsDtype(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.keepsDtype();
}
bool isDecision(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isDecision();
}

/// Returns true for ops whose narrow results every user sees rounded: ops that round, load, store, or are exact.
bool isRoundedAlready(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return cast.getKind() == CastKind::rounding;
  return isa<ReadOp, LaunchOp, ConstantOp, IotaOp, LayerOp, GradientOp, ScanOp, WhileOp>(op);
}

bool hasElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getNumElements() != 0;
}

/// Visits values backward from `roots`, each once. `visit` returns the next values; the walk continues with those that
/// `takes` accepts.
void walkBack(ValueRange roots, llvm::function_ref<bool(Value)> takes,
              llvm::function_ref<SmallVector<Value>(Value)> visit) {
  SmallVector<Value> open;
  DenseSet<Value> seen;
  auto push = [&](ValueRange values) {
    for (Value value : values)
      if (takes(value) && seen.insert(value).second)
        open.push_back(value);
  };
  push(roots);
  while (!open.empty())
    push(visit(open.pop_back_val()));
}

/// The values from which a result of a branch, loop or layer may come.
SmallVector<Value> insideOf(OpResult result) {
  if (isBranchOrLoop(result.getOwner()))
    return sourcesOf(result);
  auto layer = cast<LayerOp>(result.getOwner());
  return {layer.getBody().front().getTerminator()->getOperand(result.getResultNumber())};
}

LayerOp layerOf(BlockArgument argument) { return dyn_cast<LayerOp>(argument.getOwner()->getParentOp()); }
bool isOfLoop(BlockArgument argument) { return isLoop(argument.getOwner()->getParentOp()); }

/// The conditions that control whether, or how often, `op` runs.
SmallVector<Value> conditionsOf(Operation *op) {
  SmallVector<Value> conditions;
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp())
    if (Value condition = isBranchOrLoop(around) ? conditionOf(around) : Value())
      conditions.push_back(condition);
  return conditions;
}

/// The ops whose results reach a result of the scope or a variable. A dead op decides nothing.
DenseSet<Operation *> liveOps(Operation *scope) {
  SmallVector<Value> roots;
  scope->walk([&](Operation *op) {
    const bool yieldsInside = isa<YieldOp>(op) && op->getParentOp() != scope;
    if (op == scope || op->getNumResults() != 0 || yieldsInside)
      return;
    llvm::append_range(roots, op->getOperands());
    llvm::append_range(roots, conditionsOf(op));
  });
  DenseSet<Operation *> live;
  walkBack(roots, hasElements, [&](Value value) -> SmallVector<Value> {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      if (isOfLoop(argument))
        return sourcesOf(argument);
      LayerOp layer = layerOf(argument);
      return layer ? SmallVector<Value>{layer.getInputs()[argument.getArgNumber()]} : SmallVector<Value>();
    }
    live.insert(op);
    if (auto select = dyn_cast<SelectOp>(op); select && select.getLhs() == select.getRhs())
      return {select.getLhs()};
    SmallVector<Value> next;
    if (isBranchOrLoop(op) || isa<LayerOp>(op))
      next = insideOf(cast<OpResult>(value));
    if (isBranchOrLoop(op)) {
      if (Value condition = conditionOf(op))
        next.push_back(condition);
      return next;
    }
    // A reduction, contraction or gather of an empty tensor gives a constant; a layer's inputs are represented by its
    // arguments.
    if (!isa<LayerOp>(op) && llvm::all_of(op->getOperands(), hasElements))
      llvm::append_range(next, op->getOperands());
    return next;
  });
  return live;
}

/// The values that valuesToRound() returns, in no particular order.
DenseSet<Value> findValuesToRound(Operation *scope) {
  const DenseSet<Operation *> live = liveOps(scope);
  SmallVector<Value> roots;
  scope->walk([&](Operation *op) {
    if (isDecision(op) && live.contains(op))
      llvm::append_range(roots, op->getOperands());
  });
  DenseSet<Value> found;
  walkBack(roots, isFloat, [&](Value value) -> SmallVector<Value> {
    Operation *op = value.getDefiningOp();
    // A layer's argument is the operand, rounded if the dtypes differ, and a slice is part of its stack. Any other
    // argument is in memory.
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      if (isOfLoop(argument)) {
        const SmallVector<Value> sources = sourcesOf(argument);
        return isNarrowFloat(value) && sources.size() != 1 ? SmallVector<Value>() : sources;
      }
      LayerOp layer = layerOf(argument);
      Value operand = layer ? layer.getInputs()[argument.getArgNumber()] : Value();
      if (operand && (operand.getType() == argument.getType() || !isNarrowFloat(argument)))
        return {operand};
      return {};
    }
    if (isNarrowFloat(value) && isRoundedAlready(op))
      return {};
    if (isBranchOrLoop(op) || isa<LayerOp>(op))
      return insideOf(cast<OpResult>(value));
    if (isNarrowFloat(value) && !keepsDtype(op)) {
      found.insert(value);
      return {};
    }
    return SmallVector<Value>(op->getOperands());
  });
  return found;
}

} // namespace

llvm::SetVector<Value> valuesToRound(Operation *scope) {
  const DenseSet<Value> found = findValuesToRound(scope);
  llvm::SetVector<Value> ordered;
  if (found.empty())
    return ordered;
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (found.contains(result))
        ordered.insert(result);
  });
  return ordered;
}

} // namespace halftone::dialect
