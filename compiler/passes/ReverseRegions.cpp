// The derivatives of branches and loops, which are branches and loops of cotangents.
// SPDX-License-Identifier: Apache-2.0
//
//   %l, %ys = scan (%h) over (%xs) { ^(%i, %c, %x): ... yield %c1, %y }
// has the derivative
//   %dh, %dw, %dxs = scan (%dl, -0.0) over (%dys, stacks of forward values) {reverse} {
//     ^(%i, %dc1, %acc, %dy, ...): ... yield %dc, (%acc + %dw), %dx }
// Here %w is a capture. Its cotangents are added up from the step that ran last to the first.
#include "compiler/passes/Reverse.h"
#include "compiler/passes/WhenResults.h"
#include "dialect/Gradient.h"
#include <limits>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

SmallVector<Operation *> opsOf(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  return ops;
}

/// The type in which the cotangents of a capture are accumulated over the steps: at least f32.
RankedTensorType accumulatedIn(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getElementTypeBitWidth() >= 32)
    return tensor;
  return RankedTensorType::get(tensor.getShape(), Float32Type::get(type.getContext()));
}

Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return CastOp::create(builder, loc, type, value, CastKind::rounding, "gradient");
}

} // namespace

/// Adds a carry for the sum of each capture's cotangents. The cotangents of a step are added to it in turn, so the
/// terms are added in the same order as with unrolled steps. For a narrower capture, a step first adds up its own
/// terms.
SmallVector<Reverse::Accumulator> Reverse::accumulators(ArrayRef<Value> captures, ArrayRef<Value> copies,
                                                        LoopParts &parts, Reverse &inside) {
  SmallVector<Accumulator> all;
  for (auto [capture, copy] : llvm::zip_equal(captures, copies)) {
    if (!shared.path.isDependent(copy))
      continue;
    const RankedTensorType type = accumulatedIn(capture.getType());
    const Value before = cotangentOf(capture);
    const bool continues = before && before.getType() == type;
    Value init = before;
    if (!continues) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(parts.yield()->getParentOp());
      VariableOp variable = shared.variableOf(capture);
      const bool overwrites = variable && variable.getUpdate() == UpdateKind::overwrite;
      init = shared.splat(type, overwrites ? -std::numeric_limits<double>::infinity() : -0.0);
    }
    LoopParts::Carry &carry = parts.addCarry(init);
    all.push_back({capture, copy, &carry, continues});
    if (type == copy.getType())
      inside.add(copy, carry.argument);
  }
  return all;
}

/// Ends the step of an accumulator. Returns false and drops the carry if no cotangent reached the capture.
bool Reverse::accumulate(const Accumulator &accumulator, LoopParts &parts, const Reverse &inside) {
  const auto [capture, copy, carry, continues] = accumulator;
  Value sum = inside.cotangentOf(copy);
  carry->isDropped = !sum || sum == carry->argument;
  if (carry->isDropped)
    return false;
  const Type type = carry->argument.getType();
  const Location loc = shared.listener.forward;
  if (sum.getType() != type)
    sum =
        combinedCotangents(builder, loc, carry->argument, castTo(builder, loc, type, sum), shared.variableOf(capture));
  parts.setNext(*carry, sum);
  return true;
}

void Reverse::finish(const Accumulator &accumulator) {
  const Value sum = castTo(builder, shared.listener.forward, accumulator.capture.getType(), accumulator.carry->last);
  if (accumulator.continues)
    cotangents[accumulator.capture] = sum;
  else
    add(accumulator.capture, sum);
}

/// Passes the cotangents of the values that a step yields to the body of the backward scan: those of the ys as slices,
/// the others as carries.
SmallVector<Reverse::State> Reverse::seed(ScanOp op, ScanOp source, LoopParts &parts, Reverse &inside) {
  for (auto [slice, stack] : llvm::zip_equal(source.getYSlices(), op.getYs()))
    if (Value cotangent = cotangentOf(stack))
      inside.add(slice, parts.addSlice(cotangent));
  SmallVector<State> states;
  for (auto [argument, init, last, next] :
       llvm::zip_equal(source.getCarries(), op.getInits(), op.getLasts(), source.getNexts())) {
    Value cotangent = cotangentOf(last);
    if (!shared.path.isDependent(argument) || (!cotangent && !shared.path.holds(argument)))
      continue;
    if (!cotangent) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(parts.yield()->getParentOp());
      cotangent = shared.splat(argument.getType(), -0.0); // the neutral element of addition
    }
    states.push_back({init, argument, &parts.addCarry(cotangent)});
    inside.add(next, states.back().carry->argument);
  }
  return states;
}

LogicalResult Reverse::reverseScan(ScanOp op, ScanOp source) {
  const Location loc = op.getLoc();
  if (op.getLength() == 0) {
    for (auto [init, last] : llvm::zip_equal(op.getInits(), op.getLasts()))
      if (Value cotangent = cotangentOf(last))
        add(init, cotangent);
    return success();
  }
  const SmallVector<Value> captures = capturesOf(op), copies = capturesOf(source);
  auto backward =
      ScanOp::create(builder, loc, TypeRange(), ValueRange(), ValueRange(), op.getLength(), !op.getReverse());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&backward.getBody(), {}, op.getIndex().getType(), loc);
  builder.setInsertionPoint(YieldOp::create(builder, loc));
  LoopParts parts(backward);
  Reverse inside(shared);
  const SmallVector<State> states = seed(op, source, parts, inside);
  SmallVector<Accumulator> sums = accumulators(captures, copies, parts, inside);
  if (failed(inside.run(opsOf(source.getBody().front()))))
    return failure();

  shared.listener.forward = loc;
  for (const State &state : states) {
    const Value cotangent = inside.cotangentOf(state.argument);
    parts.setNext(*state.carry, cotangent ? cotangent : shared.splat(state.argument.getType(), -0.0));
  }
  SmallVector<std::pair<Value, unsigned>> stacks; // each of the xs, and the y that stacks its cotangent
  for (auto [x, slice] : llvm::zip_equal(op.getXs(), source.getSlices()))
    if (Value cotangent = inside.cotangentOf(slice)) {
      stacks.emplace_back(x, parts.ys.size());
      parts.addY(cotangent);
    }
  llvm::erase_if(sums, [&](const Accumulator &sum) { return !accumulate(sum, parts, inside); });
  passForwardValues(source, parts, shared); // `op` may be erased now
  IRRewriter rewriter(loc.getContext());
  builder.setInsertionPointAfter(parts.rebuild(rewriter));
  for (const Accumulator &sum : sums)
    finish(sum);
  for (const State &state : states)
    add(state.init, state.carry->last);
  for (auto [stack, y] : stacks)
    add(stack, parts.ys[y].stack);
  return success();
}

LogicalResult Reverse::reverseWhen(WhenOp op, WhenOp source) {
  const Location loc = op.getLoc();
  auto backward = WhenOp::create(builder, loc, TypeRange(), source.getCondition());
  const SmallVector<Value> captures = capturesOf(op), copies = capturesOf(source);
  OpBuilder::InsertionGuard guard(builder);
  std::array<Reverse, 2> insides{Reverse(shared), Reverse(shared)};
  for (auto [inside, region, back] : llvm::zip_equal(insides, source->getRegions(), backward->getRegions())) {
    builder.createBlock(&back);
    builder.setInsertionPoint(YieldOp::create(builder, loc));
    for (auto [yielded, result] : llvm::zip_equal(region.front().getTerminator()->getOperands(), op.getResults()))
      if (Value cotangent = cotangentOf(result))
        inside.add(yielded, cotangent);
    if (failed(inside.run(opsOf(region.front()))))
      return failure();
  }
  shared.listener.forward = loc;
  SmallVector<Value> reached, yields[2];
  for (auto [capture, copy] : llvm::zip_equal(captures, copies)) {
    if (!insides[0].cotangentOf(copy) && !insides[1].cotangentOf(copy))
      continue;
    reached.push_back(capture);
    for (auto [inside, region, values] : llvm::zip_equal(insides, backward->getRegions(), yields)) {
      builder.setInsertionPoint(region.front().getTerminator());
      const Value cotangent = inside.cotangentOf(copy);
      values.push_back(cotangent ? cotangent : shared.splat(capture.getType(), 0));
    }
  }
  passForwardValues(source, backward, shared); // `op` may be erased now
  IRRewriter rewriter(loc.getContext());
  backward = addResults(rewriter, backward, yields[0], yields[1]);
  builder.setInsertionPointAfter(backward);
  for (auto [capture, cotangent] : llvm::zip_equal(reached, backward.getResults()))
    add(capture, cotangent);
  return success();
}

} // namespace halftone::compiler
