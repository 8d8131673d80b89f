// Rules that split reductions in two: partial results of the blocks of a kernel, and a kernel that completes them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/fusion/FusionCandidates.h"
#include "compiler/fusion/rules/Rules.h"
#include <map>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// Inserts the two parts of `op` after it: the partial results of the blocks, and their reduction.
std::pair<PartialReduceOp, ReduceOp> splitInTwo(FusionState &state, ReduceOp op, const PartialReduction &tiling) {
  OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
  // A reduction of narrow floats stays f32 until it is complete.
  Type element = getElementTypeOrSelf(op.getY());
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    element = builder.getF32Type();
  Value x = op.getX();
  if (ArrayRef(tiling.shape) != shapeOf(x)) {
    x = ReshapeOp::create(builder, op.getLoc(), RankedTensorType::get(tiling.shape, getElementTypeOrSelf(x)), x);
    state.cloned.markChain(x.getDefiningOp());
    state.note(x.getDefiningOp());
  }
  SmallVector<int64_t> partial(tiling.shape), axes;
  for (auto [axis, size] : llvm::enumerate(tiling.tile)) {
    partial[axis] = ceilDivide(partial[axis], size);
    axes.push_back(static_cast<int64_t>(axis));
  }
  auto first = PartialReduceOp::create(builder, op.getLoc(), RankedTensorType::get(partial, element), op.getKind(), x,
                                       builder.getDenseI64ArrayAttr(axes), builder.getDenseI64ArrayAttr(tiling.tile));
  auto rest = ReduceOp::create(builder, op.getLoc(), RankedTensorType::get(shapeOf(op.getY()), element), op.getKind(),
                               first.getY(), builder.getDenseI64ArrayAttr(axes));
  return {first, rest};
}

/// Splits a reduction over leading or all axes: the partial reduction joins the kernel `host`, or starts a loop kernel.
/// Returns the ops that complete it, whose result replaces all uses; empty if the reduction is not split.
SmallVector<Operation *> splitInto(FusionState &state, std::optional<FusionGroupId> host, ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes();
  const int64_t reduced = axes.size();
  if (reduced == 0 || axes.back() != reduced - 1)
    return {};
  KernelShape shape{KernelKind::loop, SmallVector<int64_t>(shapeOf(op.getX())), 0};
  Operation *contract = nullptr;
  SmallVector<FusionGroupId, 1> groups;
  if (host) {
    const FusionGroup &group = state.graph.group(*host);
    shape = group.shape;
    auto found = llvm::find_if(group.ops, llvm::IsaPred<ContractOp>);
    contract = found == group.ops.end() ? nullptr : *found;
    groups.push_back(*host);
  }
  const auto decline = [&](StringRef reason) {
    if (host)
      state.decline(op, *host, reason);
    return SmallVector<Operation *>();
  };
  if (ArrayRef(shape.shape) != shapeOf(op.getX()))
    return decline("the operand differs in shape from the kernel");
  const PartialReductionOf tilingOf = formOf(shape.kind).partialReduction;
  const auto tiling = tilingOf ? tilingOf(shape, contract, reduced, state.blocking) : std::nullopt;
  if (!tiling)
    return decline("the kernel's blocks do not partition the reduced axes");
  auto [first, rest] = splitInTwo(state, op, *tiling);
  if (!host)
    state.decline(first, "it cannot be fused with any kernel that computes or reads the operand");
  std::optional<Fusion> fusion = state.plan(groups, first);
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

/// The loop and row kernels that read `value` from memory, by their shapes.
std::map<std::vector<int64_t>, FusionCandidates> readersByShape(const FusionState &state, Value value) {
  SmallVector<FusionGroupId> found;
  for (Operation *reader : state.graph.consumersOf(value))
    if (const auto id = state.graph.groupOf(reader))
      found.push_back(*id);
  llvm::sort(found);
  std::map<std::vector<int64_t>, FusionCandidates> readers;
  for (FusionGroupId id : found)
    if (const FusionGroup &reader = state.graph.group(id);
        !reader.opaque && (reader.shape.kind == KernelKind::loop || reader.shape.kind == KernelKind::row))
      readers[{reader.shape.shape.begin(), reader.shape.shape.end()}].add(id);
  return readers;
}

/// Replaces the reduction `op` in its group by `finish`. `readers` are the users of the result.
void finishInPlace(FusionState &state, ReduceOp op, ArrayRef<Operation *> finish, ArrayRef<Operation *> readers) {
  state.graph.replace(op, finish);
  if (state.log)
    state.log->replaced(op, finish.front());
  llvm::for_each(finish, [&](Operation *each) { state.note(each); });
  state.erase(op);
  for (Operation *reader : readers)
    state.graph.operandsChanged(reader);
}

/// Moves the partial reduction of `op`, a reduction of group `id` that reads `inputs`, into `host`. Returns false if
/// `host` does not read all of them, depends on the group, or cannot contain the partial reduction.
bool moveToReader(FusionState &state, FusionGroupId host, FusionGroupId id, ReduceOp op, ArrayRef<Value> inputs) {
  const FusionGroup &reader = state.graph.group(host);
  const llvm::SetVector<Value> read = state.cloned.inputsOf(reader.ops, 2);
  const bool isDependent = llvm::any_of(reader.ops, [&](Operation *each) {
    return llvm::any_of(state.graph.producersOf(each),
                        [&](Operation *producer) { return state.graph.groupOf(producer) == id; });
  });
  if (isDependent) {
    state.decline(op, host, "the kernel depends on the reduction");
    return false;
  }
  if (!llvm::all_of(inputs, [&](Value input) { return read.contains(input); })) {
    state.decline(op, host, "the kernel does not read all operands of the reduction");
    return false;
  }
  auto before = state.graph.predecessorsBetween({host, id}, nullptr);
  if (!before) {
    state.decline(op, host, "fusion would create a dependency cycle");
    return false;
  }
  const SmallVector<Operation *> readers = state.graph.consumersOf(op.getY()), finish = splitInto(state, host, op);
  if (finish.empty())
    return false;
  // The group now depends on the reader, and so do the groups between them that depend on the group.
  if (state.graph.isBefore(id, host)) {
    before->push_back(host);
    state.graph.moveBefore(std::move(*before), id);
  }
  finishInPlace(state, op, finish, readers);
  return true;
}

/// Moves the partial reduction of `op`, a reduction of group `id`, into a loop kernel before the group. Returns false
/// if that is not profitable, or if the group itself computes the operand.
bool splitAlone(FusionState &state, FusionGroupId id, ReduceOp op) {
  const int64_t elements = elementsOf(op.getX());
  const auto isComputedHere = [&](Operation *producer) { return state.graph.groupOf(producer) == id; };
  if (llvm::any_of(state.graph.producersOf(op), isComputedHere)) {
    state.decline(op, "its kernel computes the operand");
    return false;
  }
  if (elements < state.costs.standalonePartialElements ||
      elements < state.costs.standalonePartialElementsPerResult * elementsOf(op.getY())) {
    state.decline(op, "the operand is too small for a kernel of partial results, or the result too large");
    return false;
  }
  const SmallVector<Operation *> readers = state.graph.consumersOf(op.getY()),
                                 finish = splitInto(state, std::nullopt, op);
  if (finish.empty())
    return false;
  state.graph.moveBefore({state.graph.size() - 1}, id);
  finishInPlace(state, op, finish, readers);
  return true;
}

} // namespace

/// Splits a reduction over leading or all axes. The partial reduction joins the kernel that computes the operand or, if
/// the operand is a cloned producer, a kernel that computes a value which the clone reads. If it can join no kernel, a
/// long reduction to a scalar starts one.
RuleResult splitReduction(FusionState &state, Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return RuleResult::declined;
  for (FusionGroupId host : state.graph.producerKernels(op))
    if (!splitInto(state, host, reduce).empty())
      return RuleResult::applied;
  const bool isWhole = reduce.getAxes().size() == shapeOf(reduce.getX()).size();
  const bool isLong = isWhole && elementsOf(reduce.getX()) > maxElementsOfOneRow;
  if (isLong && !splitInto(state, std::nullopt, reduce).empty())
    return RuleResult::applied;
  return RuleResult::because(
      "no kernel computes the operand in blocks along the reduced axes, and one block can reduce it");
}

/// Moves a reduction over leading axes, as a partial reduction, into another kernel that reads all of its large
/// operand. Otherwise, if the result is small, a separate loop kernel computes the partial results, so that its blocks
/// are contiguous in memory.
void moveReductionsToReaders(FusionState &state) {
  DenseMap<Value, std::map<std::vector<int64_t>, FusionCandidates>> known;
  for (FusionGroupId id = 0, end = state.graph.size(); id < end; ++id) {
    const FusionGroup &group = state.graph.group(id);
    if (group.opaque || group.shape.kind != KernelKind::reduction_loop)
      continue;
    auto reductions = llvm::make_filter_range(group.ops, llvm::IsaPred<ReduceOp>);
    if (!llvm::hasSingleElement(reductions))
      continue;
    auto op = cast<ReduceOp>(*reductions.begin());
    const llvm::SetVector<Value> inputs = state.cloned.inputsOf(op.getOperation(), 2);
    if (inputs.empty() || elementsOf(op.getX()) < state.costs.largeInput)
      continue;
    auto [readers, isNew] = known.try_emplace(inputs.front());
    if (isNew)
      readers->second = readersByShape(state, inputs.front());
    const Value sum = op.getY();
    FusionCandidates &candidates = readers->second[shapeOf(op.getX()).vec()];
    const auto takes = [&](FusionGroupId host) { return moveToReader(state, host, id, op, inputs.getArrayRef()); };
    const auto isWhole = [&](Value input) { return shapeOf(input) == shapeOf(op.getX()); };
    if (candidates.find(takes) || (llvm::any_of(inputs, isWhole) && splitAlone(state, id, op)))
      known.erase(sum); // the value no longer exists
  }
}

} // namespace halftone::compiler
