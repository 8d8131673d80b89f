// Builds the derivatives of the ops of a block, from the last op to the first.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Reverse.h"
#include "dialect/Gradient.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

Value Differentiation::splat(Type type, double value) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = builder.getFloatAttr(tensor.getElementType(), value);
  return ConstantOp::create(builder, listener.forward, tensor, DenseElementsAttr::get(tensor, Attribute(element)));
}

VariableOp Differentiation::variableOf(Value value) {
  FlatSymbolRefAttr symbol;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() == function)
      symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), variableAttr);
  } else if (auto stop = value.getDefiningOp<StopGradientOp>()) {
    symbol = stop.getVariableAttr();
  }
  return symbol ? symbols.lookup<VariableOp>(symbol.getValue()) : VariableOp();
}

void Reverse::add(Value value, Value cotangent) {
  if (!shared.path.isDependent(value))
    return;
  Value &sum = cotangents[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  Operation *definition = value.getDefiningOp();
  shared.listener.forward = definition ? definition->getLoc() : shared.gradient.getLoc();
  sum = combinedCotangents(builder, shared.listener.forward, sum, cotangent, shared.variableOf(value));
}

bool Reverse::hasCotangent(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) { return cotangents.contains(result); });
}

/// Clones the ops of a unit, with values in memory as inputs: variables as they are, all others through a `hold`.
void Reverse::recompute(ArrayRef<Operation *> unit, IRMapping &copies) {
  const auto hold = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!copies.contains(value) && !(isa<BlockArgument>(value) && shared.variableOf(value)) &&
        !(producer && producer->hasTrait<OpTrait::ConstantLike>()))
      copies.map(value, HoldOp::create(builder, value.getLoc(), value).getY());
  };
  for (Operation *op : unit) {
    shared.listener.forward = op->getLoc();
    llvm::for_each(op->getOperands(), hold);
    llvm::for_each(capturesOf(op), hold);
    builder.clone(*op, copies)->removeAttr(rematerializeAttr);
  }
  shared.path.addCopies(copies);
}

/// Returns the op whose operands and results the derivative of `op` reads: `op` itself, or its copy in the backward
/// pass.
Operation *Reverse::computedAgain(Operation *op) {
  auto unit = op->getAttrOfType<IntegerAttr>(rematerializeAttr);
  if (!unit)
    return op;
  auto [entry, isNew] = copies.try_emplace(unit.getInt());
  if (isNew)
    recompute(units.lookup(unit.getInt()), entry->second);
  return entry->second.lookup(op);
}

LogicalResult Reverse::reverse(Operation *op) {
  Operation *copy = computedAgain(op);
  shared.listener.forward = op->getLoc();
  if (auto scan = dyn_cast<ScanOp>(op))
    return reverseScan(scan, cast<ScanOp>(copy));
  if (auto when = dyn_cast<WhenOp>(op))
    return reverseWhen(when, cast<WhenOp>(copy));
  SmallVector<Value> results, operands;
  for (Value result : op->getResults())
    results.push_back(cotangents.lookup(result));
  if (failed(cast<GradientOpInterface>(copy).buildGradient(builder, results, operands)))
    return failure();
  for (auto [index, operand, cotangent] : llvm::enumerate(op->getOperands(), operands)) {
    if (!cotangent || !shared.path.isDependent(operand))
      continue;
    if (cotangent.getType() != operand.getType())
      return op->emitOpError() << "builds for operand " << index << " of type " << operand.getType()
                               << " a cotangent of type " << cotangent.getType();
    add(operand, cotangent);
  }
  return success();
}

LogicalResult Reverse::run(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (auto unit = op->getAttrOfType<IntegerAttr>(rematerializeAttr))
      units[unit.getInt()].push_back(op);
  for (Operation *op : llvm::reverse(ops))
    if (hasCotangent(op) && shared.path.passesThrough(op) && failed(reverse(op)))
      return failure();
  return success();
}

} // namespace halftone::compiler
