// Which values a decision depends on: a walk from each decision to where its operands are made.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Decisions.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
bool isNarrow(Value value) {
  return isFloat(value) && getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 32;
}

bool isExtremum(ReduceKind kind) { return kind == ReduceKind::max || kind == ReduceKind::min; }

/// Ops that give elements of their operands, or such that need no rounding when their operands need none.
bool movesOrChooses(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return isExtremum(reduce.getKind());
  if (auto reduce = dyn_cast<PartialReduceOp>(op))
    return isExtremum(reduce.getKind());
  return isa<ReshapeOp, BroadcastOp, TransposeOp, PackOp, SliceOp, ConcatOp, GatherOp, StopGradientOp, SelectOp, AbsOp,
             NegOp, ReluOp, MaximumOp, MinimumOp, SignOp, FloorOp, CeilOp, RoundEvenOp>(op);
}

/// Values that are stored narrow before anybody reads them, or hold no more than their dtype does.
bool isRoundedAlready(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return cast.getKind() == CastKind::rounding;
  return isa<ReadOp, LaunchOp, ConstantOp, IotaOp, LayerOp, GradientOp>(op);
}

bool hasElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getNumElements() != 0;
}

/// The ops whose results reach a result of the scope or a variable; what nobody reads decides nothing.
class LiveOps {
public:
  explicit LiveOps(Operation *scope) {
    scope->walk([&](Operation *op) {
      const bool yieldsInside = isa<YieldOp>(op) && op->getParentOp() != scope;
      if (op == scope || op->getNumResults() != 0 || yieldsInside)
        return;
      push(op->getOperands());
      for (auto when = op->getParentOfType<WhenOp>(); when; when = when->getParentOfType<WhenOp>())
        push(when.getCondition());
    });
    while (!open.empty())
      visit(open.pop_back_val());
  }
  bool contains(Operation *op) const { return live.contains(op); }

private:
  void push(ValueRange values) {
    for (Value value : values)
      if (hasElements(value) && seen.insert(value).second)
        open.push_back(value);
  }
  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      if (auto layer = dyn_cast<LayerOp>(argument.getOwner()->getParentOp()))
        push(layer.getInputs()[argument.getArgNumber()]);
      return;
    }
    live.insert(op);
    if (isa<WhenOp, LayerOp>(op))
      for (Region &region : op->getRegions())
        push(region.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
    if (auto select = dyn_cast<SelectOp>(op); select && select.getLhs() == select.getRhs())
      return push(select.getLhs());
    // A reduction, contraction or lookup of nothing gives a constant.
    if (!isa<LayerOp>(op) && llvm::all_of(op->getOperands(), hasElements))
      push(op->getOperands());
  }

  SmallVector<Value> open;
  DenseSet<Value> seen;
  DenseSet<Operation *> live;
};

class DecisionWalk {
public:
  void run(Operation *scope) {
    const LiveOps live(scope);
    scope->walk([&](Operation *op) {
      if (isDecision(op) && live.contains(op))
        push(op->getOperands());
    });
    while (!open.empty())
      visit(open.pop_back_val());
  }
  DenseSet<Value> found;

private:
  void push(ValueRange values) {
    for (Value value : values)
      if (isFloat(value) && seen.insert(value).second)
        open.push_back(value);
  }

  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return visitArgument(cast<BlockArgument>(value));
    if (isNarrow(value) && isRoundedAlready(op))
      return;
    if (auto when = dyn_cast<WhenOp>(op)) {
      for (Region &region : when->getRegions())
        push(region.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
      return;
    }
    if (auto layer = dyn_cast<LayerOp>(op))
      return push(layer.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
    if (isNarrow(value) && !movesOrChooses(op)) {
      found.insert(value);
      return;
    }
    push(op->getOperands());
  }

  /// The argument of a layer is the operand, rounded where the dtypes differ; any other argument is in memory.
  void visitArgument(BlockArgument argument) {
    auto layer = dyn_cast<LayerOp>(argument.getOwner()->getParentOp());
    if (!layer)
      return;
    Value operand = layer.getInputs()[argument.getArgNumber()];
    if (operand.getType() == argument.getType() || !isNarrow(argument))
      push(operand);
  }

  SmallVector<Value> open;
  DenseSet<Value> seen;
};

} // namespace

bool isDecision(Operation *op) {
  if (auto reduce = dyn_cast<ReduceAllOp>(op))
    return reduce.getKind() == ReduceAllKind::all_finite;
  if (auto cast = dyn_cast<CastOp>(op))
    return isFloat(cast.getX()) && !isFloat(cast.getY());
  if (auto reduce = dyn_cast<ArgReduceOp>(op)) // of one element it is 0
    return cast<RankedTensorType>(reduce.getX().getType()).getDimSize(reduce.getAxis()) > 1;
  return isa<IsFiniteOp, CompareOp, SignOp, FloorOp, CeilOp, RoundEvenOp, RemOp>(op);
}

llvm::SetVector<Value> valuesToRound(Operation *scope) {
  DecisionWalk walk;
  walk.run(scope);
  llvm::SetVector<Value> ordered;
  if (walk.found.empty())
    return ordered;
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (walk.found.contains(result))
        ordered.insert(result);
  });
  return ordered;
}

} // namespace halftone::dialect
