// Loops: scan and while.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ControlFlow.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// Verifies the arguments of a loop's region: optionally an index, then values of the given types.
LogicalResult verifyArguments(Operation *op, Region &region, StringRef what, bool hasIndex, ArrayRef<Type> types) {
  const TypeRange arguments = region.getArgumentTypes();
  if (arguments.size() != types.size() + hasIndex)
    return op->emitOpError() << what << " has " << arguments.size() << " arguments; expected "
                             << types.size() + hasIndex;
  const Type index = RankedTensorType::get({}, IntegerType::get(op->getContext(), 32));
  if (hasIndex && arguments.front() != index)
    return op->emitOpError() << what << " has the index as its first argument, of type " << arguments.front()
                             << "; expected " << index;
  for (auto [number, argument, type] : llvm::enumerate(arguments.drop_front(hasIndex), types))
    if (argument != type)
      return op->emitOpError() << what << " has argument #" << number + hasIndex << " of type " << argument
                               << "; expected " << type;
  return success();
}

LogicalResult verifyYields(Operation *op, Region &region, StringRef what, TypeRange types) {
  const TypeRange yields = region.front().getTerminator()->getOperandTypes();
  if (yields.size() != types.size())
    return op->emitOpError() << what << " yields " << yields.size() << " values; expected " << types.size();
  for (auto [number, yield, type] : llvm::enumerate(yields, types))
    if (yield != type)
      return op->emitOpError() << what << " yields " << yield << " as value #" << number << "; expected " << type;
  return success();
}

/// Verifies that the carries leave a loop with the types with which they enter it.
LogicalResult verifyLasts(Operation *op, TypeRange inits, TypeRange results) {
  for (auto [number, init, result] : llvm::enumerate(inits, results))
    if (init != result)
      return op->emitOpError() << "result #" << number << " is a carry of type " << init << ", but has type " << result;
  return success();
}

LogicalResult verifyDepth(Operation *op) {
  unsigned depth = 0;
  for (Operation *around = op; around; around = around->getParentOp())
    depth += isLoop(around);
  if (depth > maxNestedLoops)
    return op->emitOpError() << "is in " << depth - 1 << " nested loops; expected fewer than " << maxNestedLoops;
  return success();
}

RankedTensorType sliceOf(RankedTensorType stack) {
  return RankedTensorType::get(stack.getShape().drop_front(), stack.getElementType());
}

} // namespace

LogicalResult ScanOp::verify() {
  const int64_t length = getLength();
  if (length < 0 || length > std::numeric_limits<int32_t>::max())
    return emitOpError() << "has length = " << length << "; expected 0 to " << std::numeric_limits<int32_t>::max();
  const size_t carries = getInits().size();
  SmallVector<Type> arguments(getInits().getTypes());
  for (auto [number, x] : llvm::enumerate(getXs())) {
    if (shapeOf(x).empty() || shapeOf(x).front() != length)
      return emitOpError() << "scans #" << number << " of the xs, of type " << x.getType()
                           << "; expected a leading extent of " << length;
    arguments.push_back(sliceOf(tensorTypeOf(x)));
  }
  if (failed(verifyDepth(*this)) || failed(verifyArguments(*this, getBody(), "body", true, arguments)))
    return failure();
  if (getNumResults() < carries)
    return emitOpError() << "has " << carries << " carries, but only " << getNumResults() << " results";
  if (failed(verifyLasts(*this, getInits().getTypes(), getLasts().getTypes())))
    return failure();
  SmallVector<Type> yields(getInits().getTypes());
  for (auto [number, y] : llvm::enumerate(getYs())) {
    if (shapeOf(y).empty() || shapeOf(y).front() != length)
      return emitOpError() << "result #" << carries + number << " is a stack of slices, of type " << y.getType()
                           << "; expected a leading extent of " << length;
    yields.push_back(sliceOf(tensorTypeOf(y)));
  }
  return verifyYields(*this, getBody(), "body", yields);
}

// Slices come from the stacks, and the slices of ys go there: they are not forwarded as carries are.
void ScanOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (getLength() > (point.isParent() ? 0 : 1))
    regions.push_back(RegionSuccessor(&getBody(), getCarries()));
  if (getLength() == 0 || !point.isParent())
    regions.push_back(RegionSuccessor(getOperation(), getLasts()));
}

OperandRange ScanOp::getEntrySuccessorOperands(RegionSuccessor) { return getInits(); }

void ScanOp::getRegionInvocationBounds(ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(getLength(), getLength());
}

SmallVector<Region *> ScanOp::getLoopRegions() { return {&getBody()}; }
Block::BlockArgListType ScanOp::getRegionIterArgs() { return getCarries(); }
std::optional<MutableArrayRef<OpOperand>> ScanOp::getYieldedValuesMutable() {
  return getTerminator()->getOpOperands().take_front(getInits().size());
}
std::optional<ResultRange> ScanOp::getLoopResults() { return getLasts(); }

LogicalResult WhileOp::verify() {
  if (getMaximum() && int64_t(*getMaximum()) < 0)
    return emitOpError() << "has maximum = " << int64_t(*getMaximum()) << "; expected 0 or more";
  const SmallVector<Type> carries(getInits().getTypes());
  if (failed(verifyDepth(*this)) || failed(verifyArguments(*this, getCondition(), "condition", false, carries)) ||
      failed(verifyArguments(*this, getBody(), "body", true, carries)))
    return failure();
  if (getNumResults() != carries.size())
    return emitOpError() << "has " << carries.size() << " carries, but " << getNumResults() << " results";
  const Type decision = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyLasts(*this, carries, getOutputs().getTypes())) ||
      failed(verifyYields(*this, getCondition(), "condition", decision)) ||
      failed(verifyYields(*this, getBody(), "body", carries)))
    return failure();
  const WalkResult walked = getCondition().walk([&](AssignOp) { return WalkResult::interrupt(); });
  return walked.wasInterrupted() ? emitOpError("condition must be pure, but contains 'halftone.assign'") : success();
}

// The condition region forwards the carries to the body, or out of the loop, although it yields only the decision.
void WhileOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  Operation *terminator = point.isParent() ? nullptr : point.getTerminatorPredecessorOrNull();
  if (!terminator || terminator->getParentRegion() == &getBody()) {
    regions.push_back(RegionSuccessor(&getCondition(), getCondition().getArguments()));
    return;
  }
  regions.push_back(RegionSuccessor(&getBody()));
  regions.push_back(RegionSuccessor(getOperation(), getResults().take_front(0)));
}

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) { return getInits(); }

SmallVector<Region *> WhileOp::getLoopRegions() { return {&getCondition(), &getBody()}; }
Block::BlockArgListType WhileOp::getRegionIterArgs() { return getCondition().getArguments(); }
std::optional<MutableArrayRef<OpOperand>> WhileOp::getYieldedValuesMutable() {
  return getBody().front().getTerminator()->getOpOperands();
}
std::optional<ResultRange> WhileOp::getLoopResults() { return getOutputs(); }

} // namespace halftone::dialect
