// Takes loops apart and rebuilds them with other carries, slices and stacks.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LoopParts.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool isOfInnerLoop(Value value, ScanOp scan) {
  while (Operation *op = value.getDefiningOp()) {
    if (isLoop(op))
      return op->getParentOp() == scan;
    if (!isa<CastOp, ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

Value roundedInLoop(OpBuilder &builder, Value value) {
  auto element = dyn_cast<FloatType>(elementTypeOf(value));
  if (!element || element.getWidth() >= 32)
    return value;
  return CastOp::create(builder, value.getLoc(), value.getType(), value, CastKind::rounding, "loop");
}

LoopParts::LoopParts(Operation *loop) : loop(loop) {
  auto scan = dyn_cast<ScanOp>(loop);
  auto other = dyn_cast<WhileOp>(loop);
  body = scan ? &scan.getBody().front() : &other.getBody().front();
  condition = scan ? nullptr : &other.getCondition().front();
  unsigned yields = 0;
  for (Value init : scan ? scan.getInits() : other.getInits()) {
    const unsigned number = yields++;
    carries.push_back({init, body->getArgument(1 + number),
                       condition ? condition->getArgument(number) : BlockArgument(), loop->getResult(number), number});
  }
  if (!scan)
    return;
  for (auto [stack, argument] : llvm::zip_equal(scan.getXs(), scan.getSlices()))
    slices.push_back({stack, argument});
  for (Value stack : scan.getYs())
    ys.push_back({stack, yields++});
}

unsigned LoopParts::addYield(Value value) {
  const unsigned number = yield()->getNumOperands();
  yield()->insertOperands(number, value);
  return number;
}

LoopParts::Carry &LoopParts::addCarry(Value init) {
  const BlockArgument argument = body->addArgument(init.getType(), init.getLoc());
  const BlockArgument decided = condition ? condition->addArgument(init.getType(), init.getLoc()) : BlockArgument();
  carries.push_back({init, argument, decided, {}, addYield(argument)});
  return carries.back();
}

BlockArgument LoopParts::addSlice(Value stack) {
  const RankedTensorType type = tensorTypeOf(stack);
  const auto slice = RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  slices.push_back({stack, body->addArgument(slice, stack.getLoc())});
  return slices.back().argument;
}

LoopParts::Y &LoopParts::addY(Value slice) {
  ys.push_back({{}, addYield(slice)});
  return ys.back();
}

/// Reorders the arguments of a block as in `kept`, and removes all others.
void LoopParts::setArguments(Block &block, ArrayRef<BlockArgument> kept) {
  if (llvm::equal(block.getArguments(), kept))
    return;
  const unsigned before = block.getNumArguments();
  for (BlockArgument argument : kept)
    argument.replaceAllUsesWith(block.addArgument(argument.getType(), argument.getLoc()));
  block.eraseArguments(0, before);
}

/// Creates the loop that the lists describe, with empty regions.
Operation *LoopParts::create(RewriterBase &rewriter) {
  SmallVector<Value> inits, stacks;
  SmallVector<Type> types;
  for (const Carry &carry : carries) {
    inits.push_back(carry.init);
    types.push_back(carry.init.getType());
  }
  for (const Slice &slice : slices)
    stacks.push_back(slice.stack);
  auto scan = dyn_cast<ScanOp>(loop);
  if (!scan)
    return WhileOp::create(rewriter, loop->getLoc(), types, inits, cast<WhileOp>(loop).getMaximumAttr());
  for (const Y &y : ys) {
    SmallVector<int64_t> shape(shapeOf(slice(y)));
    shape.insert(shape.begin(), static_cast<int64_t>(scan.getLength()));
    types.push_back(RankedTensorType::get(shape, elementTypeOf(slice(y))));
  }
  return ScanOp::create(rewriter, loop->getLoc(), types, inits, stacks, scan.getLengthAttr(), scan.getReverseAttr());
}

Operation *LoopParts::rebuild(RewriterBase &rewriter) {
  const auto dropsEntry = [](const auto &entry) { return entry.isDropped; };
  llvm::erase_if(carries, dropsEntry);
  llvm::erase_if(slices, dropsEntry);
  llvm::erase_if(ys, dropsEntry);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  Operation *created = create(rewriter);
  created->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  SmallVector<Value> yields;
  for (const Carry &carry : carries)
    yields.push_back(next(carry));
  for (const Y &y : ys)
    yields.push_back(slice(y));
  rewriter.modifyOpInPlace(yield(), [&] { yield()->setOperands(yields); });
  SmallVector<BlockArgument> arguments{body->getArgument(0)}, decided;
  for (const Carry &carry : carries)
    arguments.push_back(carry.argument);
  for (const Slice &slice : slices)
    arguments.push_back(slice.argument);
  setArguments(*body, arguments);
  if (condition) {
    for (const Carry &carry : carries)
      decided.push_back(carry.decided);
    setArguments(*condition, decided);
  }
  for (auto [before, after] : llvm::zip_equal(loop->getRegions(), created->getRegions()))
    rewriter.inlineRegionBefore(before, after, after.begin());

  unsigned result = 0;
  const auto place = [&](Value &value) {
    const Value now = created->getResult(result++);
    if (value)
      rewriter.replaceAllUsesWith(value, now);
    value = now;
  };
  for (auto [number, carry] : llvm::enumerate(carries)) {
    carry.yield = result;
    place(carry.last);
    carry.argument = body->getArgument(1 + number);
    if (condition)
      carry.decided = condition->getArgument(number);
  }
  for (auto [number, slice] : llvm::enumerate(slices))
    slice.argument = body->getArgument(1 + carries.size() + number);
  for (Y &y : ys) {
    y.yield = result;
    place(y.stack);
  }
  rewriter.eraseOp(loop);
  return loop = created;
}

} // namespace halftone::compiler
