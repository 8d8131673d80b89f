// Data flow into and out of the regions of branches and loops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ControlFlow.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace halftone::dialect {

SmallVector<Value> capturesOf(Operation *op) {
  llvm::SetVector<Value> captures;
  for (Region &region : op->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentRegion()->isProperAncestor(&region))
          captures.insert(operand);
    });
  return captures.takeVector();
}

namespace {

SmallVector<Value> sourcesOfCarry(Operation *loop, unsigned number) {
  if (auto scan = dyn_cast<ScanOp>(loop)) {
    if (scan.getLength() == 0)
      return {scan.getInits()[number]};
    return {scan.getInits()[number], scan.getNexts()[number]};
  }
  auto loopWhile = cast<WhileOp>(loop);
  return {loopWhile.getInits()[number], loopWhile.getNexts()[number]};
}

} // namespace

SmallVector<Value> sourcesOf(OpResult result) {
  const unsigned number = result.getResultNumber();
  if (auto when = dyn_cast<WhenOp>(result.getOwner())) {
    SmallVector<Value> yields;
    for (Region &region : when->getRegions())
      yields.push_back(region.front().getTerminator()->getOperand(number));
    return yields;
  }
  auto scan = dyn_cast<ScanOp>(result.getOwner());
  if (!scan || number < scan.getInits().size())
    return sourcesOfCarry(result.getOwner(), number);
  if (scan.getLength() == 0)
    return {};
  return {scan.getTerminator()->getOperand(number)};
}

SmallVector<Value> sourcesOf(BlockArgument argument) {
  Operation *loop = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loopWhile = dyn_cast<WhileOp>(loop); loopWhile && argument.getParentRegion() == &loopWhile.getCondition())
    return sourcesOfCarry(loop, number);
  if (number == 0)
    return {};
  auto scan = dyn_cast<ScanOp>(loop);
  if (!scan || number <= scan.getInits().size())
    return sourcesOfCarry(loop, number - 1);
  return {scan.getXs()[number - 1 - scan.getInits().size()]};
}

SmallVector<Value> targetsOf(OpOperand &operand) {
  Operation *owner = operand.getOwner();
  const bool isYielded = isa<YieldOp>(owner);
  Operation *op = isYielded ? owner->getParentOp() : owner;
  const unsigned number = operand.getOperandNumber();
  if (auto when = dyn_cast<WhenOp>(op))
    return isYielded ? SmallVector<Value>{when->getResult(number)} : SmallVector<Value>();
  if (auto loop = dyn_cast<WhileOp>(op)) {
    if (isYielded && owner->getParentRegion() == &loop.getCondition())
      return {};
    return {loop->getResult(number), loop.getCondition().getArgument(number), loop.getCarries()[number]};
  }
  auto scan = dyn_cast<ScanOp>(op);
  if (!scan)
    return {};
  const size_t carries = scan.getInits().size();
  if (number < carries)
    return {scan->getResult(number), scan.getCarries()[number]};
  if (isYielded)
    return {scan->getResult(number)};
  return {scan.getSlices()[number - carries]};
}

SmallVector<Value> addedTerms(ScanOp scan, unsigned carry) {
  const BlockArgument argument = scan.getCarries()[carry];
  auto element = dyn_cast<FloatType>(elementTypeOf(argument));
  if (!element || element.getWidth() < 32 || !argument.hasOneUse())
    return {};
  SmallVector<Value> terms;
  for (Value next = scan.getNexts()[carry]; next != argument;) { // from the last addition backward
    auto add = next.getDefiningOp<AddOp>();
    if (!add || add->getParentOp() != scan || !next.hasOneUse())
      return {};
    const bool isLeft = add.getLhs() == argument || (add.getRhs() != argument && add.getLhs().getDefiningOp<AddOp>());
    terms.push_back(isLeft ? add.getRhs() : add.getLhs());
    next = isLeft ? add.getLhs() : add.getRhs();
  }
  return {terms.rbegin(), terms.rend()};
}

Value conditionOf(Operation *branchOrLoop) {
  if (auto when = dyn_cast<WhenOp>(branchOrLoop))
    return when.getCondition();
  if (auto loop = dyn_cast<WhileOp>(branchOrLoop))
    return loop.getConditionValue();
  return {};
}

} // namespace halftone::dialect
