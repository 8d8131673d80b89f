// differentiate: gradients become ordinary ops, by reverse accumulation over the ops between the values and the scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = mul %x, %x; %s = reduce sum %y; %d = gradient %s at (%x)
// becomes
//   %y = mul %x, %x; %s = reduce sum %y; %1 = constant 1; %b = broadcast %1; %d = add (mul %b, %x), (mul %b, %x)
// Forward ops with one number of halftone.rematerialize are computed again, from their held inputs, before the first
// derivative that reads one of their values.
#include "compiler/passes/Passes.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/AttentionParts.h"
#include "dialect/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class Differentiate : public impl::DifferentiatePassBase<Differentiate> {
  void runOnModule() override;
};

/// Gives each op that a derivative builds the location of its forward op, marked.
struct GradientLocations : OpBuilder::Listener {
  Location forward;
  explicit GradientLocations(Location forward) : forward(forward) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    op->setLoc(gradientLocation(forward));
  }
};

Value splat(OpBuilder &builder, Location loc, Type type, double value) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = builder.getFloatAttr(tensor.getElementType(), value);
  return ConstantOp::create(builder, loc, tensor, DenseElementsAttr::get(tensor, Attribute(element)));
}

/// Resolves one `gradient`.
class Backward {
public:
  Backward(GradientOp gradient, func::FuncOp function, const SymbolTable &symbols)
      : gradient(gradient), function(function), symbols(symbols), listener(gradient.getLoc()),
        builder(gradient, &listener) {}
  LogicalResult run();

private:
  void findDependent();
  bool expandAttention();
  LogicalResult findPath();
  LogicalResult differentiate(Operation *op);
  Operation *computedAgain(Operation *op);
  void computeAgain(ArrayRef<Operation *> unit, IRMapping &copies);
  VariableOp variableOf(Value value);
  void accumulate(Value value, Value cotangent);
  /// Whether a cotangent of the op's results flows on through `operand`.
  bool isOnTheWay(OpOperand &operand) {
    auto op = dyn_cast<GradientOpInterface>(operand.getOwner());
    return dependent.contains(operand.get()) && (!op || op.reaches(operand));
  }
  bool hasDependentOperand(Operation *op) {
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) { return isOnTheWay(operand); });
  }

  GradientOp gradient;
  func::FuncOp function;
  const SymbolTable &symbols;
  GradientLocations listener;
  OpBuilder builder;
  llvm::DenseSet<Value> dependent;         // values that a derivative reaches from the xs
  llvm::MapVector<Operation *, bool> path; // all ops in program order; true: between the xs and y
  llvm::DenseMap<Value, Value> cotangents;
  llvm::DenseMap<int64_t, SmallVector<Operation *>> units; // by number: the ops before that are computed again together
  llvm::DenseMap<int64_t, IRMapping> copies;               // of the ops of a unit, once they are made
};

/// Forward: which values depend on the xs, differentiably. Program order, ops of a region before the op that holds it.
void Backward::findDependent() {
  dependent.insert(gradient.getXs().begin(), gradient.getXs().end());
  bool isBefore = true; // the gradient
  function.getBody().walk([&](Operation *op) {
    path.insert({op, false});
    isBefore &= op != gradient;
    if (auto unit = op->getAttrOfType<IntegerAttr>(rematerializeAttr); unit && isBefore)
      units[unit.getInt()].push_back(op);
    if (auto when = dyn_cast<WhenOp>(op)) {
      for (Region &region : when->getRegions())
        for (auto [yielded, result] : llvm::zip(region.front().getTerminator()->getOperands(), when.getResults()))
          if (dependent.contains(yielded))
            dependent.insert(result);
    } else if (!isConstantToGradient(op) && hasDependentOperand(op)) {
      for (Value result : op->getResults())
        if (isDifferentiable(result.getType()))
          dependent.insert(result);
    }
  });
}

/// A gradient of attention that a derivative reaches becomes ordinary ops, which have derivatives.
bool Backward::expandAttention() {
  SmallVector<AttentionGradOp> reached;
  for (auto [op, isBetween] : path)
    if (auto grad = dyn_cast<AttentionGradOp>(op); grad && hasDependentOperand(op))
      reached.push_back(grad);
  for (AttentionGradOp grad : reached) {
    OpBuilder ordinary(grad);
    grad.replaceAllUsesWith(expanded(grad, ordinary));
    grad.erase();
  }
  return !reached.empty();
}

/// Backward: which of the ops that do so matter to y, and have they all a derivative?
LogicalResult Backward::findPath() {
  llvm::SetVector<Value> reached;
  if (dependent.contains(gradient.getY()))
    reached.insert(gradient.getY());
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    if (!op)
      continue;
    if (isa<StopGradientOp>(op) || (!isa<WhenOp>(op) && !hasDependentOperand(op)))
      continue; // one of the xs, independent of the others
    if (!isa<GradientOpInterface>(op)) {
      InFlightDiagnostic error = op->emitOpError() << "has no gradient, but the value to differentiate depends on it";
      if (StringRef layer = layerPathOf(op->getLoc()); !layer.empty())
        error << " (layer " << layer << ")";
      error.attachNote(gradient.getLoc()) << "differentiated here";
      return failure();
    }
    path[op] = true;
    for (OpOperand &operand : op->getOpOperands())
      if (isOnTheWay(operand))
        reached.insert(operand.get());
  }
  return success();
}

/// The variable of whose values `value` is one: an argument of the function, or a leaf that lift-variables made.
VariableOp Backward::variableOf(Value value) {
  FlatSymbolRefAttr symbol;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() == function)
      symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), variableAttr);
  } else if (auto stop = value.getDefiningOp<StopGradientOp>()) {
    symbol = stop.getVariableAttr();
  }
  return symbol ? symbols.lookup<VariableOp>(symbol.getValue()) : VariableOp();
}

void Backward::accumulate(Value value, Value cotangent) {
  Value &sum = cotangents[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  Operation *definition = value.getDefiningOp();
  listener.forward = definition ? definition->getLoc() : gradient.getLoc();
  sum = combinedCotangents(builder, listener.forward, sum, cotangent, variableOf(value));
}

/// The ops of a unit once more, from values in memory: variables as they are, all else behind a `hold`.
void Backward::computeAgain(ArrayRef<Operation *> unit, IRMapping &copies) {
  const auto hold = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!copies.contains(value) && !(isa<BlockArgument>(value) && variableOf(value)) &&
        !(producer && producer->hasTrait<OpTrait::ConstantLike>()))
      copies.map(value, HoldOp::create(builder, value.getLoc(), value).getY());
  };
  for (Operation *op : unit) {
    listener.forward = op->getLoc();
    llvm::for_each(op->getOperands(), hold);
    builder.clone(*op, copies)->removeAttr(rematerializeAttr);
  }
}

/// The op whose operands and results the derivative of `op` reads: the op itself, or its copy in the backward pass.
Operation *Backward::computedAgain(Operation *op) {
  auto unit = op->getAttrOfType<IntegerAttr>(rematerializeAttr);
  if (!unit)
    return op;
  auto [place, isNew] = copies.try_emplace(unit.getInt());
  if (isNew)
    computeAgain(units.lookup(unit.getInt()), place->second);
  return place->second.lookup(op);
}

LogicalResult Backward::differentiate(Operation *op) {
  SmallVector<Value> results, operands;
  for (Value result : op->getResults())
    results.push_back(cotangents.lookup(result));
  if (llvm::none_of(results, [](Value cotangent) { return cotangent != nullptr; }))
    return success();
  auto made = cast<GradientOpInterface>(computedAgain(op));
  listener.forward = op->getLoc();
  if (failed(made.buildGradient(builder, results, operands)))
    return failure();
  for (auto [index, operand, cotangent] : llvm::enumerate(op->getOperands(), operands)) {
    if (!cotangent || !dependent.contains(operand))
      continue;
    if (cotangent.getType() != operand.getType())
      return op->emitOpError() << "gives operand " << index << " of type " << operand.getType()
                               << " a cotangent of type " << cotangent.getType();
    accumulate(operand, cotangent);
  }
  return success();
}

LogicalResult Backward::run() {
  if (!gradient.getOf().empty())
    return gradient.emitOpError() << "names variables; expected lift-variables first";
  findDependent();
  if (expandAttention()) {
    path.clear();
    units.clear();
    dependent.clear();
    findDependent();
  }
  if (failed(findPath()))
    return failure();
  if (dependent.contains(gradient.getY()))
    cotangents[gradient.getY()] = splat(builder, gradient.getLoc(), gradient.getY().getType(), 1);
  for (auto [op, between] : llvm::reverse(path))
    if (between && failed(differentiate(op)))
      return failure();
  listener.forward = gradient.getLoc();
  for (auto [x, result] : llvm::zip_equal(gradient.getXs(), gradient.getGradients())) {
    Value cotangent = cotangents.lookup(x);
    result.replaceAllUsesWith(cotangent ? cotangent : splat(builder, gradient.getLoc(), result.getType(), 0));
  }
  gradient.erase();
  return success();
}

void Differentiate::runOnModule() {
  const SymbolTable symbols(getOperation());
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    // In program order: a gradient of a gradient finds the inner one resolved.
    SmallVector<GradientOp> gradients;
    function.walk<WalkOrder::PreOrder>([&](GradientOp gradient) { gradients.push_back(gradient); });
    for (GradientOp gradient : gradients)
      if (failed(Backward(gradient, function, symbols).run()))
        return signalPassFailure();
  }
  getOperation().walk([](Operation *op) { // ops of a region first, which go with it
    op->removeAttr(rematerializeAttr);
    if (!isa<StopGradientOp, CustomGradientOp>(op))
      return;
    op->replaceAllUsesWith(op->getOperands().take_front());
    op->erase();
  });
}

} // namespace
} // namespace halftone::compiler
