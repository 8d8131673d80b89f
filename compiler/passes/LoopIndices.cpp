// Adds a carry for the step index to loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LoopIndices.h"
#include "dialect/ControlFlow.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

Value integer(OpBuilder &builder, Location loc, int64_t value) {
  const auto type = RankedTensorType::get({}, builder.getI32Type());
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
}

/// Makes the index the last carry of the body, at position `carries`, and yields the next one.
void countIn(Region &body, unsigned carries, int64_t step) {
  Block &block = body.front();
  const Location loc = body.getLoc();
  BlockArgument index = block.getArgument(0);
  BlockArgument carry = block.insertArgument(1 + carries, index.getType(), loc);
  index.replaceAllUsesWith(carry);
  Operation *yield = block.getTerminator();
  OpBuilder builder(yield);
  const Value next = AddOp::create(builder, loc, index.getType(), carry, integer(builder, loc, step));
  yield->insertOperands(carries, next);
}

/// Replaces `loop` by an op with the same regions and one more carry after the existing ones.
void replace(Operation *loop, Operation *other, unsigned carries) {
  for (auto [region, taken] : llvm::zip_equal(loop->getRegions(), other->getRegions()))
    taken.takeBody(region);
  other->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (OpResult result : loop->getResults())
    result.replaceAllUsesWith(other->getResult(result.getResultNumber() + (result.getResultNumber() >= carries)));
  loop->erase();
}

void carryIndex(ScanOp scan) {
  OpBuilder builder(scan);
  const auto carries = static_cast<unsigned>(scan.getInits().size());
  const auto last = static_cast<int64_t>(scan.getLength()) - 1;
  countIn(scan.getBody(), carries, scan.getReverse() ? -1 : 1);
  SmallVector<Value> inits(scan.getInits());
  inits.push_back(integer(builder, scan.getLoc(), scan.getReverse() ? last : 0));
  SmallVector<Type> types(scan.getResultTypes());
  types.insert(types.begin() + carries, inits.back().getType());
  replace(scan, ScanOp::create(builder, scan.getLoc(), types, inits, scan.getXs(), scan.getLength(), scan.getReverse()),
          carries);
}

void carryIndex(WhileOp loop) {
  OpBuilder builder(loop);
  const auto carries = static_cast<unsigned>(loop.getInits().size());
  countIn(loop.getBody(), carries, 1);
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(integer(builder, loop.getLoc(), 0));
  loop.getCondition().addArgument(inits.back().getType(), loop.getLoc());
  replace(loop, WhileOp::create(builder, loop.getLoc(), ValueRange(inits).getTypes(), inits, loop.getMaximumAttr()),
          carries);
}

} // namespace

void carryIndices(func::FuncOp main) {
  SmallVector<Operation *> loops;
  main.walk([&](LoopLikeOpInterface loop) {
    if (!loop.getLoopRegions().back()->getArgument(0).use_empty())
      loops.push_back(loop);
  });
  for (Operation *loop : loops)
    if (auto scan = dyn_cast<ScanOp>(loop))
      carryIndex(scan);
    else
      carryIndex(cast<WhileOp>(loop));
}

} // namespace halftone::compiler
