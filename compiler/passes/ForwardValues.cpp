// Passes the values of a forward scan or branch that derivatives read to the backward body.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Reverse.h"
#include "compiler/passes/WhenResults.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// The values of `forward`, a region, that ops of `backward` read, in the order of their definitions.
SmallVector<Value> valuesRead(Region &forward, Region &backward) {
  llvm::SetVector<Value> read;
  backward.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion() == &forward)
        read.insert(operand);
  });
  SmallVector<Value> ordered = read.takeVector();
  llvm::sort(ordered, [](Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    if (!first || !second)
      return !first && (second || cast<BlockArgument>(a).getArgNumber() < cast<BlockArgument>(b).getArgNumber());
    return first != second ? first->isBeforeInBlock(second)
                           : cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
  });
  return ordered;
}

void replaceIn(Region &region, Value from, Value to) {
  from.replaceUsesWithIf(to, [&](OpOperand &use) { return region.isAncestor(use.getOwner()->getParentRegion()); });
}

/// The ops of `region` that compute `value`, in order, except those whose results `stops` accepts as already available.
void opsThatCompute(Value value, Region &region, llvm::function_ref<bool(Value)> stops,
                    llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (value.getParentRegion() != &region || !op || stops(value) || ops.contains(op))
    return;
  for (Value operand : op->getOperands())
    opsThatCompute(operand, region, stops, ops);
  for (Value capture : capturesOf(op))
    opsThatCompute(capture, region, stops, ops);
  ops.insert(op);
}

/// Clones `ops` at the beginning of a backward body.
void recompute(const llvm::SetVector<Operation *> &ops, IRMapping &copies, Differentiation &shared) {
  for (Operation *op : ops) {
    shared.listener.forward = op->getLoc();
    shared.builder.clone(*op, copies)->removeAttr(rematerializeAttr);
  }
}

/// The largest number of elementwise ops for which a value is recomputed instead of being stored for each step.
constexpr int64_t maxOpsRecomputed = 4;

bool isCheap(const llvm::SetVector<Operation *> &ops) {
  int64_t count = 0;
  for (Operation *op : ops) {
    auto compute = dyn_cast<ComputeOpInterface>(op);
    if (!compute || !compute.isPointwise() || compute.isTranscendental())
      return false;
    count += !compute.isAlwaysCloned() && !op->hasTrait<OpTrait::ConstantLike>();
  }
  return count <= maxOpsRecomputed;
}

/// Zeros of any element type.
Value zerosOf(Differentiation &shared, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return ConstantOp::create(shared.builder, shared.listener.forward, tensor,
                            DenseElementsAttr::get(tensor, shared.builder.getZeroAttr(tensor.getElementType())));
}

/// Returns true if a branch's result of `op` is stored, since recomputing it takes more than elementwise ops.
bool isExpensive(Operation *op) { return isa<ContractOp, ConvolutionOp, AttentionOp>(op) || isLoop(op); }

/// The values of a forward scan's body that its backward scan needs, and the source of each.
class ForwardValues {
public:
  ForwardValues(ScanOp forward, Region &back) : forward(forward), parts(forward) {
    for (Value value : valuesRead(forward.getBody(), back))
      choose(value);
    // Recomputed ops read arguments too.
    for (Operation *op : again)
      for (Value operand : op->getOperands())
        if (isa<BlockArgument>(operand) && operand.getParentRegion() == &forward.getBody())
          choose(operand);
  }
  void pass(LoopParts &backward, Differentiation &shared);

private:
  void choose(Value value);
  void keep(Value value);

  ScanOp forward;
  LoopParts parts;
  llvm::SetVector<Value> slices;         // of the xs
  llvm::MapVector<Value, unsigned> kept; // each value, and the index of the y that stacks it
  llvm::SetVector<Operation *> again;
};

void ForwardValues::keep(Value value) {
  if (kept.contains(value))
    return;
  const auto known = llvm::find_if(parts.ys, [&](const LoopParts::Y &y) { return parts.slice(y) == value; });
  kept[value] = known - parts.ys.begin();
  if (known == parts.ys.end())
    parts.addY(value);
}

void ForwardValues::choose(Value value) {
  if (value == forward.getIndex())
    return;
  if (isa<BlockArgument>(value)) {
    if (llvm::is_contained(forward.getSlices(), value))
      slices.insert(value);
    else
      keep(value);
    return;
  }
  llvm::SetVector<Operation *> ops;
  opsThatCompute(value, forward.getBody(), [&](Value each) { return kept.contains(each); }, ops);
  if (isCheap(ops))
    again.insert_range(ops);
  else
    keep(value);
}

void ForwardValues::pass(LoopParts &backward, Differentiation &shared) {
  Block &back = *backward.bodyBlock();
  IRMapping copies;
  copies.map(forward.getIndex(), back.getArgument(0));
  for (Value slice : slices)
    copies.map(slice, backward.addSlice(
                          forward.getXs()[llvm::find(forward.getSlices(), slice) - forward.getSlices().begin()]));
  Region *body = &forward.getBody();
  if (!kept.empty()) {
    shared.path.forget(forward);
    IRRewriter rewriter(forward.getContext());
    body = &cast<ScanOp>(parts.rebuild(rewriter)).getBody();
  }
  for (auto [value, y] : kept)
    copies.map(value, backward.addSlice(parts.ys[y].stack));
  OpBuilder::InsertionGuard guard(shared.builder);
  shared.builder.setInsertionPointToStart(&back);
  recompute(again, copies, shared);
  for (Value value : valuesRead(*body, *back.getParent()))
    replaceIn(*back.getParent(), value, copies.lookup(value));
}

} // namespace

void passForwardValues(ScanOp forward, LoopParts &backward, Differentiation &shared) {
  ForwardValues(forward, *backward.bodyBlock()->getParent()).pass(backward, shared);
}

void passForwardValues(WhenOp forward, WhenOp backward, Differentiation &shared) {
  SmallVector<Value> onThen, onElse;
  SmallVector<std::pair<Value, unsigned>> kept; // each value, and the index of the result that carries it
  const unsigned results = forward.getNumResults();
  for (unsigned branch : {0, 1}) {
    Region &body = forward->getRegion(branch), &back = backward->getRegion(branch);
    llvm::SetVector<Value> expensive;
    llvm::SetVector<Operation *> again;
    const auto isKept = [&](Value value) {
      if (isExpensive(value.getDefiningOp()))
        expensive.insert(value);
      return expensive.contains(value);
    };
    const SmallVector<Value> read = valuesRead(body, back);
    for (Value value : read)
      opsThatCompute(value, body, isKept, again);
    OpBuilder::InsertionGuard guard(shared.builder);
    for (Value value : expensive) {
      Region &other = forward->getRegion(1 - branch);
      shared.builder.setInsertionPoint(other.front().getTerminator());
      shared.listener.forward = value.getLoc();
      const Value zeros = zerosOf(shared, value.getType());
      kept.emplace_back(value, results + onThen.size());
      onThen.push_back(branch == 0 ? value : zeros);
      onElse.push_back(branch == 0 ? zeros : value);
    }
    IRMapping copies;
    shared.builder.setInsertionPointToStart(&back.front());
    recompute(again, copies, shared);
    for (Value value : read)
      if (!expensive.contains(value))
        replaceIn(back, value, copies.lookup(value));
  }
  if (kept.empty())
    return;
  shared.path.forget(forward);
  IRRewriter rewriter(forward.getContext());
  const WhenOp wider = addResults(rewriter, forward, onThen, onElse);
  for (auto [value, number] : kept)
    for (Region &back : backward->getRegions())
      replaceIn(back, value, wider->getResult(number));
}

} // namespace halftone::compiler
