// Replaces loops by one step, and removes carries, slices and stacks.
// SPDX-License-Identifier: Apache-2.0
#include "ReductionsOfLoops.h"
#include "dialect/ControlFlow.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::tools {
namespace {

Region &bodyOf(Operation *loop) { return loop->getRegions().back(); }
unsigned carryCount(Operation *loop) {
  auto scan = dyn_cast<ScanOp>(loop);
  return scan ? scan.getInits().size() : loop->getNumOperands();
}

/// The first slice of a stack.
Value firstSlice(OpBuilder &builder, Location loc, Value stack, Type type) {
  SmallVector<int64_t> shape(shapeOf(stack)), start(shape.size());
  shape.front() = 1;
  const Value slice = SliceOp::create(builder, loc, tensorTypeOf(stack).clone(shape), stack, start);
  return ReshapeOp::create(builder, loc, type, slice);
}

/// Rebuilds a loop without the given operands, results and block arguments. A used result must have been replaced by
/// the initial value of its carry.
void rebuild(Operation *loop, const llvm::BitVector &operands, const llvm::BitVector &results) {
  OpBuilder builder(loop);
  SmallVector<Value> inits, stacks;
  SmallVector<Type> types;
  const unsigned before = carryCount(loop);
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (!operands.test(i))
      (i < before ? inits : stacks).push_back(loop->getOperand(i));
  for (unsigned i = 0; i < loop->getNumResults(); ++i)
    if (!results.test(i))
      types.push_back(loop->getResult(i).getType());
  auto scan = dyn_cast<ScanOp>(loop);
  Operation *made =
      scan ? ScanOp::create(builder, loop->getLoc(), types, inits, stacks, scan.getLengthAttr(), scan.getReverseAttr())
           : WhileOp::create(builder, loop->getLoc(), types, inits, cast<WhileOp>(loop).getMaximumAttr());
  for (auto [region, taken] : llvm::zip_equal(loop->getRegions(), made->getRegions())) {
    taken.takeBody(region);
    const unsigned index = &taken == &bodyOf(made); // the body has one argument before the carries
    llvm::BitVector arguments(taken.getNumArguments());
    for (unsigned i : operands.set_bits())
      arguments.set(index + i);
    taken.front().eraseArguments(arguments);
  }
  bodyOf(made).front().getTerminator()->eraseOperands(results);
  unsigned kept = 0;
  for (OpResult result : loop->getResults())
    if (!results.test(result.getResultNumber()))
      result.replaceAllUsesWith(made->getResult(kept++));
  loop->erase();
}

llvm::MapVector<Operation *, SmallVector<unsigned>> byLoop(ArrayRef<Part> parts) {
  llvm::MapVector<Operation *, SmallVector<unsigned>> indices;
  for (const Part &part : parts)
    indices[part.op].push_back(part.index);
  return indices;
}

SmallVector<Part> partsOf(ModuleOp module, function_ref<void(Operation *, SmallVectorImpl<Part> &)> add) {
  SmallVector<Part> parts;
  module.walk([&](Operation *op) { // inner loops first
    if (isLoop(op))
      add(op, parts);
  });
  return parts;
}

} // namespace

SmallVector<Part> loops(ModuleOp module) {
  return partsOf(module, [](Operation *loop, SmallVectorImpl<Part> &parts) { parts.push_back({loop}); });
}

void takeStep(ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    IRRewriter rewriter(part.op);
    const Location loc = part.op->getLoc();
    Block &body = bodyOf(part.op).front();
    const unsigned carries = carryCount(part.op);
    const auto index = cast<RankedTensorType>(body.getArgument(0).getType());
    SmallVector<Value> values{ConstantOp::create(
        rewriter, loc, index, DenseElementsAttr::get(index, Attribute(rewriter.getI32IntegerAttr(0))))};
    for (auto [number, operand] : llvm::enumerate(part.op->getOperands()))
      values.push_back(number < carries ? operand
                                        : firstSlice(rewriter, loc, operand, body.getArgument(1 + number).getType()));
    Operation *yield = body.getTerminator();
    rewriter.inlineBlockBefore(&body, part.op, values);
    SmallVector<Value> results;
    for (auto [yielded, result] : llvm::zip_equal(yield->getOperands(), part.op->getResults())) {
      const auto type = cast<RankedTensorType>(result.getType());
      const auto axes = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
      results.push_back(result.getResultNumber() < carries
                            ? yielded
                            : Value(BroadcastOp::create(rewriter, loc, type, yielded, axes)));
    }
    rewriter.replaceOp(part.op, results);
    rewriter.eraseOp(yield);
  }
}

SmallVector<Part> carries(ModuleOp module) {
  return partsOf(module, [](Operation *loop, SmallVectorImpl<Part> &parts) {
    for (unsigned i = 0; i < carryCount(loop); ++i)
      parts.push_back({loop, i});
  });
}

void replaceByInit(ArrayRef<Part> parts) {
  for (auto &[loop, indices] : byLoop(parts)) {
    llvm::BitVector operands(loop->getNumOperands()), results(loop->getNumResults());
    for (unsigned i : indices) {
      const Value init = loop->getOperand(i);
      operands.set(i);
      results.set(i);
      loop->getResult(i).replaceAllUsesWith(init);
      bodyOf(loop).getArgument(1 + i).replaceAllUsesWith(init);
      if (auto other = dyn_cast<WhileOp>(loop))
        other.getCondition().getArgument(i).replaceAllUsesWith(init);
    }
    rebuild(loop, operands, results);
  }
}

SmallVector<Part> unusedSlices(ModuleOp module) {
  return partsOf(module, [](Operation *loop, SmallVectorImpl<Part> &parts) {
    for (unsigned i = carryCount(loop); i < loop->getNumOperands(); ++i)
      if (bodyOf(loop).getArgument(1 + i).use_empty())
        parts.push_back({loop, i});
  });
}

void dropSlices(ArrayRef<Part> parts) {
  for (auto &[loop, indices] : byLoop(parts)) {
    llvm::BitVector operands(loop->getNumOperands());
    for (unsigned i : indices)
      operands.set(i);
    rebuild(loop, operands, llvm::BitVector(loop->getNumResults()));
  }
}

SmallVector<Part> unusedStacks(ModuleOp module) {
  return partsOf(module, [](Operation *loop, SmallVectorImpl<Part> &parts) {
    for (unsigned i = carryCount(loop); i < loop->getNumResults(); ++i)
      if (loop->getResult(i).use_empty())
        parts.push_back({loop, i});
  });
}

void dropStacks(ArrayRef<Part> parts) {
  for (auto &[loop, indices] : byLoop(parts)) {
    llvm::BitVector results(loop->getNumResults());
    for (unsigned i : indices)
      results.set(i);
    rebuild(loop, llvm::BitVector(loop->getNumOperands()), results);
  }
}

} // namespace halftone::tools
