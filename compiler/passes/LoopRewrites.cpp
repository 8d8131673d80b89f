// Moves invariant ops out of loops, and drops unneeded carries, slices, stacks and loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/LoopRewrites.h"
#include "compiler/passes/LoopLifting.h"
#include "compiler/passes/LoopParts.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

Value splat(OpBuilder &builder, Location loc, RankedTensorType type, int64_t value) {
  const auto element = builder.getIntegerAttr(type.getElementType(), value);
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(element)));
}

Value empty(OpBuilder &builder, Location loc, RankedTensorType type) {
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
}

/// Broadcasts `value` along new leading axes to `type`.
Value broadcastTo(OpBuilder &builder, Location loc, RankedTensorType type, Value value) {
  const int64_t rank = shapeOf(value).size();
  return BroadcastOp::create(builder, loc, type, value,
                             llvm::to_vector(llvm::seq<int64_t>(type.getRank() - rank, type.getRank())));
}

/// Simplifies the lists of one loop.
class LoopRewrite {
public:
  explicit LoopRewrite(Operation *loop) : loop(loop), parts(loop), builder(loop) {}
  bool run();

private:
  bool isInvariant(Value value) const { return !loop->isAncestor(value.getParentRegion()->getParentOp()); }
  llvm::DenseSet<Value> findNeeded() const;
  void drop(LoopParts::Carry &carry, Value value);
  void dropCarries();
  Value constantValue(const LoopParts::Carry &carry);
  bool dropCounter(LoopParts::Carry &carry);
  Value invariantSlice(const LoopParts::Slice &slice);
  void dropSlices();
  void dropYs();

  Operation *loop;
  LoopParts parts;
  OpBuilder builder; // before the loop
  bool changed = false;
};

/// The values of the loop on which a used result or the condition depends.
llvm::DenseSet<Value> LoopRewrite::findNeeded() const {
  llvm::DenseSet<Value> needed;
  SmallVector<Value> open;
  const auto need = [&](ValueRange values) {
    for (Value value : values)
      if (!isInvariant(value) && needed.insert(value).second)
        open.push_back(value);
  };
  for (const LoopParts::Y &y : parts.ys)
    if (!y.stack.use_empty())
      need(parts.slice(y));
  for (const LoopParts::Carry &carry : parts.carries)
    if (!carry.last.use_empty())
      need(parts.next(carry));
  if (auto other = dyn_cast<WhileOp>(loop))
    need(other.getConditionValue());
  while (!open.empty()) {
    const Value value = open.pop_back_val();
    for (const LoopParts::Carry &carry : parts.carries)
      if (value == carry.argument || value == carry.decided)
        need(parts.next(carry));
    if (Operation *op = value.getDefiningOp()) {
      need(op->getOperands());
      need(capturesOf(op));
    }
  }
  return needed;
}

/// Drops a carry that equals `value` in every step, or that is unused.
void LoopRewrite::drop(LoopParts::Carry &carry, Value value) {
  carry.argument.replaceAllUsesWith(value);
  if (carry.decided)
    carry.decided.replaceAllUsesWith(value);
  carry.last.replaceAllUsesWith(value);
  carry.isDropped = changed = true;
}

/// Returns the value that a carry has in every step; null if it changes.
Value LoopRewrite::constantValue(const LoopParts::Carry &carry) {
  if (tensorTypeOf(carry.init).getNumElements() == 0)
    return empty(builder, loop->getLoc(), tensorTypeOf(carry.init));
  return parts.next(carry) == carry.argument ? roundedInLoop(builder, carry.init) : Value();
}

/// Replaces an integer carry that becomes c + k in each step, with invariant k, by init + k * steps.
bool LoopRewrite::dropCounter(LoopParts::Carry &carry) {
  auto scan = dyn_cast<ScanOp>(loop);
  auto sum = parts.next(carry).getDefiningOp<AddOp>();
  const RankedTensorType type = tensorTypeOf(carry.init);
  if (!scan || !sum || !isa<IntegerType>(type.getElementType()) || type.getElementType().isInteger(1))
    return false;
  const Value other = sum.getLhs() == carry.argument ? sum.getRhs() : sum.getLhs();
  if ((sum.getLhs() != carry.argument && sum.getRhs() != carry.argument) || !isInvariant(other))
    return false;
  const Location loc = sum.getLoc();
  const auto after = [&](OpBuilder &at, Value steps) {
    if (steps.getType() != type) {
      const auto scalar = RankedTensorType::get({}, type.getElementType());
      if (steps.getType() != scalar)
        steps = CastOp::create(at, loc, scalar, steps, CastKind::rounding, "loop");
      if (type.getRank() != 0)
        steps = broadcastTo(at, loc, type, steps);
    }
    return AddOp::create(at, loc, carry.init, MulOp::create(at, loc, other, steps)).getResult();
  };
  const auto index = tensorTypeOf(scan.getIndex());
  OpBuilder inside = OpBuilder::atBlockBegin(parts.bodyBlock());
  Value steps = scan.getIndex();
  if (scan.getReverse())
    steps = SubOp::create(inside, loc, splat(inside, loc, index, scan.getLength() - 1), steps);
  carry.argument.replaceAllUsesWith(after(inside, steps));
  carry.last.replaceAllUsesWith(after(builder, splat(builder, loc, index, scan.getLength())));
  carry.isDropped = changed = true;
  return true;
}

void LoopRewrite::dropCarries() {
  const llvm::DenseSet<Value> needed = findNeeded();
  for (LoopParts::Carry &carry : parts.carries) {
    if (carry.last.use_empty() && !needed.contains(carry.argument) &&
        !(carry.decided && needed.contains(carry.decided)))
      drop(carry, carry.init); // remaining users are dead
    else if (Value value = constantValue(carry))
      drop(carry, value);
    else if (!dropCounter(carry))
      for (LoopParts::Carry &other : parts.carries) {
        if (&other == &carry)
          break;
        if (other.isDropped || other.init != carry.init || parts.next(other) != parts.next(carry))
          continue;
        carry.argument.replaceAllUsesWith(other.argument);
        if (carry.decided)
          carry.decided.replaceAllUsesWith(other.decided);
        carry.last.replaceAllUsesWith(other.last);
        carry.isDropped = changed = true;
        break;
      }
  }
}

/// Returns the slice of every step, if all slices of the stack are equal; otherwise null.
Value LoopRewrite::invariantSlice(const LoopParts::Slice &slice) {
  const auto type = tensorTypeOf(slice.argument);
  if (type.getNumElements() == 0)
    return empty(builder, loop->getLoc(), type);
  Operation *op = slice.stack.getDefiningOp();
  DenseElementsAttr elements;
  if (matchPattern(slice.stack, m_Constant(&elements)) && elements.isSplat())
    return ConstantOp::create(builder, op->getLoc(), type, elements.resizeSplat(type));
  auto broadcast = dyn_cast_if_present<BroadcastOp>(op);
  if (!broadcast || llvm::is_contained(broadcast.getAxes(), 0))
    return {};
  if (broadcast.getX().getType() == type)
    return broadcast.getX();
  SmallVector<int64_t> axes(broadcast.getAxes());
  for (int64_t &axis : axes)
    --axis;
  return BroadcastOp::create(builder, op->getLoc(), type, broadcast.getX(), axes);
}

void LoopRewrite::dropSlices() {
  for (LoopParts::Slice &slice : parts.slices) {
    if (!slice.argument.use_empty()) {
      Value value = invariantSlice(slice);
      for (const LoopParts::Slice &other : parts.slices) {
        if (value || &other == &slice)
          break;
        if (!other.isDropped && other.stack == slice.stack)
          value = other.argument;
      }
      if (!value)
        continue;
      slice.argument.replaceAllUsesWith(value);
    }
    slice.isDropped = changed = true;
  }
}

void LoopRewrite::dropYs() {
  for (LoopParts::Y &y : parts.ys) {
    const Value slice = parts.slice(y);
    if (!y.stack.use_empty()) {
      Value stack;
      if (tensorTypeOf(y.stack).getNumElements() == 0)
        stack = empty(builder, loop->getLoc(), tensorTypeOf(y.stack));
      else if (isInvariant(slice))
        stack = broadcastTo(builder, loop->getLoc(), tensorTypeOf(y.stack), roundedInLoop(builder, slice));
      for (const LoopParts::Y &other : parts.ys) {
        if (stack || &other == &y)
          break;
        if (!other.isDropped && parts.slice(other) == slice)
          stack = other.stack;
      }
      if (!stack)
        continue;
      y.stack.replaceAllUsesWith(stack);
    }
    y.isDropped = changed = true;
  }
}

bool LoopRewrite::run() {
  dropYs(); // first: an unused stack needs no carry
  dropCarries();
  dropSlices();
  if (!changed)
    return false;
  IRRewriter rewriter(loop->getContext());
  parts.rebuild(rewriter);
  return true;
}

/// Inlines a scan of zero steps or one step.
bool inlineShort(ScanOp scan) {
  if (scan.getLength() > 1)
    return false;
  OpBuilder builder(scan);
  const Location loc = scan.getLoc();
  const auto round = [&](Value value) { return roundedInLoop(builder, value); };
  if (scan.getLength() == 0) {
    for (auto [last, init] : llvm::zip_equal(scan.getLasts(), scan.getInits()))
      last.replaceAllUsesWith(round(init));
    for (Value y : scan.getYs())
      y.replaceAllUsesWith(empty(builder, loc, tensorTypeOf(y)));
    scan.erase();
    return true;
  }
  scan.getIndex().replaceAllUsesWith(splat(builder, loc, tensorTypeOf(scan.getIndex()), 0));
  for (auto [argument, init] : llvm::zip_equal(scan.getCarries(), scan.getInits()))
    argument.replaceAllUsesWith(round(init));
  for (auto [argument, stack] : llvm::zip_equal(scan.getSlices(), scan.getXs()))
    argument.replaceAllUsesWith(ReshapeOp::create(builder, loc, argument.getType(), stack));
  Block &body = scan.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    op.moveBefore(scan);
  for (auto [last, next] : llvm::zip_equal(scan.getLasts(), scan.getNexts()))
    last.replaceAllUsesWith(round(next));
  for (auto [stack, slice] : llvm::zip_equal(scan.getYs(), scan.getYSlices()))
    stack.replaceAllUsesWith(ReshapeOp::create(builder, loc, stack.getType(), round(slice)));
  scan.erase();
  return true;
}

/// Erases dead ops in the regions of `loop`.
void eraseDead(Operation &loop) {
  for (Region &region : loop.getRegions())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(region.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
}

} // namespace

bool simplifyLoops(ModuleOp module) {
  bool changed = false;
  SmallVector<Operation *> loops; // inner loops first
  module.walk([&](Operation *op) {
    if (isLoop(op))
      loops.push_back(op);
  });
  for (Operation *loop : loops) {
    eraseDead(*loop);
    changed |= moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop)) != 0;
    auto scan = dyn_cast<ScanOp>(loop);
    changed |=
        (scan && inlineShort(scan)) || LoopRewrite(loop).run() || (scan && (liftInFront(scan) || liftAfter(scan)));
  }
  return changed;
}

} // namespace halftone::compiler
