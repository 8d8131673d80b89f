// Side reductions: which kernels make the pieces of a reduction, and where the pieces are combined.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernelsBlock.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// The two halves of `op`, behind it: the pieces of the blocks, and their reduction.
std::pair<PartialReduceOp, ReduceOp> BlockFormer::splitInTwo(ReduceOp op, const SideReduction &side) {
  OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
  // A reduction of narrow floats stays f32 until it is whole.
  Type element = getElementTypeOrSelf(op.getY());
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    element = builder.getF32Type();
  Value x = op.getX();
  if (ArrayRef(side.shape) != shapeOf(x)) {
    x = ReshapeOp::create(builder, op.getLoc(), RankedTensorType::get(side.shape, getElementTypeOrSelf(x)), x);
    state.cloned.markChain(x.getDefiningOp());
  }
  SmallVector<int64_t> pieces(side.shape), axes;
  for (auto [axis, size] : llvm::enumerate(side.tile)) {
    pieces[axis] = ceilDivide(pieces[axis], size);
    axes.push_back(static_cast<int64_t>(axis));
  }
  auto first = PartialReduceOp::create(builder, op.getLoc(), RankedTensorType::get(pieces, element), op.getKind(), x,
                                       builder.getDenseI64ArrayAttr(axes), builder.getDenseI64ArrayAttr(side.tile));
  auto rest = ReduceOp::create(builder, op.getLoc(), RankedTensorType::get(shapeOf(op.getY()), element), op.getKind(),
                               first.getY(), builder.getDenseI64ArrayAttr(axes));
  return {first, rest};
}

/// Splits a reduction over leading or all axes in two: the first half joins the kernel `host`, or is a kernel cut into
/// blocks. Returns the ops that finish it, which take its place; none when that cannot be.
SmallVector<Operation *> BlockFormer::splitInto(std::optional<FusionGroupId> host, ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes();
  const int64_t reduced = axes.size();
  if (state.numerics.formsAlone() || reduced == 0 || axes.back() != reduced - 1)
    return {};
  KernelShape shape{KernelKind::loop, SmallVector<int64_t>(shapeOf(op.getX())), 0};
  Operation *contract = nullptr;
  SmallVector<FusionGroupId, 1> merged;
  if (host) {
    const FusionGroup &group = state.graph.group(*host);
    shape = group.shape;
    auto found = llvm::find_if(group.ops, llvm::IsaPred<ContractOp>);
    contract = found == group.ops.end() ? nullptr : *found;
    merged.push_back(*host);
  }
  if (ArrayRef(shape.shape) != shapeOf(op.getX()))
    return {};
  const SideReductionOf sideOf = formOf(shape.kind).sideReduction;
  const auto side = sideOf ? sideOf(shape, contract, reduced, state.blocking) : std::nullopt;
  if (!side)
    return {};
  auto [first, rest] = splitInTwo(op, *side);
  std::optional<Fusion> fusion = state.plan(merged, first);
  if (!fusion) {
    Operation *reshape = first.getX().getDefiningOp();
    state.erase(rest);
    state.erase(first);
    if (reshape && reshape->use_empty() && state.cloned.isMarked(reshape))
      state.erase(reshape);
    return {};
  }
  state.fuse(std::move(*fusion));
  SmallVector<Operation *> finish{rest};
  if (rest.getType() != op.getType()) {
    OpBuilder builder(rest->getBlock(), std::next(rest->getIterator()));
    // A decision on an extremum sees the rounding of the operand (valuesToRound), which a cast for storage would hide.
    const CastKind kind = op.keepsDtype() ? CastKind::rounding : CastKind::storage;
    finish.push_back(CastOp::create(builder, op.getLoc(), op.getY().getType(), rest.getY(), kind, "reduction"));
  }
  op.getY().replaceAllUsesWith(finish.back()->getResult(0));
  return finish;
}

/// Splits a reduction over leading or all axes. The first half joins the kernel that makes the operand. If the operand is a
/// copy, the first half joins a kernel that makes a value which the copy reads. If no kernel takes the first half, it becomes
/// a kernel of its own.
bool BlockFormer::splitReduction(ReduceOp op) {
  for (FusionGroupId host : state.graph.producerKernels(op))
    if (!splitInto(host, op).empty())
      return true;
  const bool whole = op.getAxes().size() == shapeOf(op.getX()).size();
  return whole && elementsOf(op.getX()) > mostElementsOfOneRow && !splitInto(std::nullopt, op).empty();
}

/// A reduction over leading axes whose large operand another kernel reads whole becomes a side reduction there; else, if
/// its result is small, one of a loop kernel of its own, whose blocks are runs of memory.
void BlockFormer::giveReductionsToReaders() {
  DenseMap<Value, std::map<std::vector<int64_t>, FusionCandidates>> known;
  for (FusionGroupId index = 0, end = state.graph.size(); index < end; ++index) {
    const FusionGroup &group = state.graph.group(index);
    if (group.opaque || group.shape.kind != KernelKind::reduction_loop)
      continue;
    auto reductions = llvm::make_filter_range(group.ops, llvm::IsaPred<ReduceOp>);
    if (!llvm::hasSingleElement(reductions))
      continue;
    auto op = cast<ReduceOp>(*reductions.begin());
    llvm::SetVector<Value> inputs = state.cloned.inputsOf(op.getOperation(), 2);
    if (inputs.empty() || elementsOf(op.getX()) < bigInput)
      continue;
    auto [readers, isNew] = known.try_emplace(inputs.front());
    if (isNew)
      readers->second = readersByShape(inputs.front());
    const Value sum = op.getY();
    FusionCandidates &hosts = readers->second[shapeOf(op.getX()).vec()];
    const bool isGiven =
        hosts.find([&](FusionGroupId host) { return giveReduction(host, index, op, inputs.getArrayRef()); })
            .has_value();
    const auto isWhole = [&](Value input) { return shapeOf(input) == shapeOf(op.getX()); };
    if (isGiven || (llvm::any_of(inputs, isWhole) && splitAlone(index, op)))
      known.erase(sum); // which is gone
  }
}

/// The loop and row kernels that read `value` from memory, by their shapes.
std::map<std::vector<int64_t>, FusionCandidates> BlockFormer::readersByShape(Value value) const {
  SmallVector<FusionGroupId> found;
  for (Operation *reader : state.graph.consumersOf(value))
    if (const auto group = state.graph.groupOf(reader))
      found.push_back(*group);
  llvm::sort(found);
  std::map<std::vector<int64_t>, FusionCandidates> readers;
  for (FusionGroupId index : found)
    if (const FusionGroup &reader = state.graph.group(index);
        !reader.opaque && (reader.shape.kind == KernelKind::loop || reader.shape.kind == KernelKind::row))
      readers[{reader.shape.shape.begin(), reader.shape.shape.end()}].add(index);
  return readers;
}

/// Puts the first half of `op`, a reduction of group `index` that reads `inputs`, into `host`; false when the two
/// cannot stand together.
bool BlockFormer::giveReduction(FusionGroupId host, FusionGroupId index, ReduceOp op, ArrayRef<Value> inputs) {
  const FusionGroup &reader = state.graph.group(host);
  llvm::SetVector<Value> read = state.cloned.inputsOf(reader.ops, 2);
  const bool waits = llvm::any_of(reader.ops, [&](Operation *each) {
    return llvm::any_of(state.graph.producersOf(each),
                        [&](Operation *producer) { return state.graph.groupOf(producer) == index; });
  });
  if (waits || !llvm::all_of(inputs, [&](Value input) { return read.contains(input); }))
    return false;
  auto before = state.graph.predecessorsBetween({host, index}, nullptr);
  if (!before)
    return false;
  const SmallVector<Operation *> stale = state.graph.consumersOf(op.getY()), finish = splitInto(host, op);
  if (finish.empty())
    return false;
  // Whatever waits for the sum waits for the reader now, also what stands before it.
  if (state.graph.isBefore(index, host)) {
    before->push_back(host);
    state.graph.moveBefore(std::move(*before), index);
  }
  finishIn(op, finish, stale);
  return true;
}

/// Puts the first half of `op`, a reduction of group `index`, into a loop kernel before it; false when the reduction is
/// small or its result is not, or when the group itself makes the operand.
bool BlockFormer::splitAlone(FusionGroupId index, ReduceOp op) {
  constexpr int64_t leastElements = 32768, leastOfEach = 64;
  const auto isMadeHere = [&](Operation *producer) { return state.graph.groupOf(producer) == index; };
  if (elementsOf(op.getX()) < leastElements || elementsOf(op.getX()) < leastOfEach * elementsOf(op.getY()) ||
      llvm::any_of(state.graph.producersOf(op), isMadeHere))
    return false;
  const SmallVector<Operation *> stale = state.graph.consumersOf(op.getY()), finish = splitInto(std::nullopt, op);
  if (finish.empty())
    return false;
  state.graph.moveBefore({state.graph.size() - 1}, index);
  finishIn(op, finish, stale);
  return true;
}

/// Puts `finish`, the rest of the reduction `op` over the blocks' pieces, where the whole stood. `stale` are the ops that read the sum.
void BlockFormer::finishIn(ReduceOp op, ArrayRef<Operation *> finish, ArrayRef<Operation *> stale) {
  state.graph.replace(op, finish);
  state.erase(op);
  for (Operation *reading : stale)
    state.graph.operandsChanged(reading);
}

} // namespace halftone::compiler
