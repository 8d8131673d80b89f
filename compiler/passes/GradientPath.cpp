// Finds the paths of a gradient: forward over uses from the values xs, and backward over definitions from the scalar y.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/GradientPath.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/Gradient.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// The innermost loop that contains `op`; null if there is none.
Operation *loopAround(Operation *op) {
  Operation *around = op->getParentOp();
  while (around && !isLoop(around))
    around = around->getParentOp();
  return around;
}

/// The values that directly depend on `use`.
SmallVector<Value> dependentOn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<YieldOp>(user) || isBranchOrLoop(user))
    return targetsOf(use);
  auto flow = dyn_cast<GradientOpInterface>(user);
  if (isConstantToGradient(user) || (flow && !flow.reaches(use)))
    return {};
  SmallVector<Value> values;
  llvm::copy_if(user->getResults(), std::back_inserter(values),
                [](Value result) { return isDifferentiable(result.getType()); });
  return values;
}

} // namespace

/// Returns true if `value` is inside the innermost loop that contains the gradient, where each step has its own value.
bool GradientPath::isInside(Value value) const {
  Operation *loop = loopAround(gradient);
  return !loop || loop->isAncestor(value.getParentRegion()->getParentOp());
}

void GradientPath::findDependent() {
  dependent.clear();
  reached.clear();
  // A value inside the gradient's loop belongs to one step: no later step depends on it.
  const auto spread = [&](SmallVector<Value> open, bool leavesStep) {
    while (!open.empty())
      for (OpOperand &use : open.pop_back_val().getUses())
        if (Operation *owner = use.getOwner();
            leavesStep || !isa<YieldOp>(owner) || owner->getParentOp() != loopAround(gradient))
          for (Value value : dependentOn(use))
            if (dependent.insert(value).second)
              open.push_back(value);
  };
  SmallVector<Value> inside, outside;
  for (Value x : gradient.getXs())
    (isInside(x) ? inside : outside).push_back(x);
  dependent.insert_range(gradient.getXs());
  spread(outside, true);
  spread(inside, false);
}

bool GradientPath::passes(OpOperand &operand) const {
  auto op = dyn_cast<GradientOpInterface>(operand.getOwner());
  return dependent.contains(operand.get()) && (!op || op.reaches(operand));
}

bool GradientPath::passesThrough(Operation *op) const {
  if (isBranchOrLoop(op))
    return llvm::any_of(op->getResults(), [&](OpResult result) {
      return llvm::any_of(sourcesOf(result), [&](Value source) { return dependent.contains(source); });
    });
  return !isa<StopGradientOp>(op) &&
         llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) { return passes(operand); });
}

void GradientPath::addCopies(const IRMapping &copies) {
  for (auto [from, to] : copies.getValueMap()) {
    if (dependent.contains(from))
      dependent.insert(to);
    if (reached.contains(from))
      reached.insert(to);
  }
}

void GradientPath::forget(Operation *op) {
  const auto forgetAll = [&](ValueRange values) {
    for (Value value : values) {
      dependent.erase(value);
      reached.erase(value);
    }
  };
  forgetAll(op->getResults());
  for (Region &region : op->getRegions())
    forgetAll(region.getArguments());
}

InFlightDiagnostic GradientPath::refuse(Operation *op, StringRef reason) {
  InFlightDiagnostic error = op->emitOpError() << reason;
  if (StringRef layer = layerPathOf(op->getLoc()); !layer.empty())
    error << " (layer " << layer << ")";
  error.attachNote(gradient.getLoc()) << "differentiated here";
  return error;
}

void GradientPath::reach(ValueRange values) {
  for (Value value : values)
    if (dependent.contains(value) && reached.insert(value).second)
      open.push_back(value);
}

/// Continues from a value to the operands from which it is computed.
LogicalResult GradientPath::visit(Value value) {
  constexpr StringLiteral outside =
      "contains a gradient whose value depends on its inputs (xs) through values outside the body; expected the "
      "whole path inside the body, or a capture to differentiate with respect to";
  Operation *op = value.getDefiningOp();
  const bool isX = llvm::is_contained(gradient.getXs(), value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *around = argument.getOwner()->getParentOp();
    if (isX || !isLoop(around))
      return success();
    if (around->isAncestor(gradient))
      return refuse(around, outside);
    reach(sourcesOf(argument));
    return success();
  }
  if (!passesThrough(op))
    return success(); // one of the xs that is independent of the others
  if (!isInside(value))
    return isX ? success() : LogicalResult(refuse(loopAround(gradient), outside));
  if (isa<WhileOp>(op))
    return refuse(op, "has no gradient, because its number of steps is unknown at compile time; expected a scan, which "
                      "is a fori_loop with integer bounds");
  if (isBranchOrLoop(op)) {
    reach(sourcesOf(cast<OpResult>(value)));
    return success();
  }
  if (!isa<GradientOpInterface>(op))
    return refuse(op, "has no gradient, but the value to differentiate depends on it");
  for (OpOperand &operand : op->getOpOperands())
    if (passes(operand))
      reach(operand.get());
  return success();
}

LogicalResult GradientPath::findReached() {
  reach(gradient.getY());
  while (!open.empty())
    if (failed(visit(open.pop_back_val())))
      return failure();
  return success();
}

SmallVector<Operation *> GradientPath::opsBefore() const {
  SmallVector<Operation *> ends{gradient}; // the ops that contain the gradient, innermost first
  while (!isLoop(ends.back()->getParentOp()) && isBranchOrLoop(ends.back()->getParentOp()))
    ends.push_back(ends.back()->getParentOp());
  SmallVector<Operation *> ops;
  for (Operation *end : llvm::reverse(ends))
    for (Operation &op : llvm::make_range(end->getBlock()->begin(), end->getIterator()))
      ops.push_back(&op);
  return ops;
}

} // namespace halftone::compiler
