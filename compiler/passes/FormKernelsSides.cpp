// Side reductions: which kernels make the pieces of a reduction, and where the pieces are combined.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernelsBlock.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// The two halves of `op`, behind it: the pieces of the blocks, and their reduction.
std::pair<PartialReduceOp, ReduceOp> BlockFormer::halvesOf(ReduceOp op, const SideReduction &side) {
  OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
  // A reduction of narrow floats stays f32 until it is whole.
  Type element = getElementTypeOrSelf(op.getY());
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    element = builder.getF32Type();
  Value x = op.getX();
  if (ArrayRef(side.shape) != shapeOf(x)) {
    x = ReshapeOp::create(builder, op.getLoc(), RankedTensorType::get(side.shape, getElementTypeOrSelf(x)), x);
    chains.insert(x.getDefiningOp());
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
SmallVector<Operation *> BlockFormer::splitInto(std::optional<int64_t> host, ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes();
  const int64_t reduced = axes.size();
  if (numerics.formsAlone() || reduced == 0 || axes.back() != reduced - 1)
    return {};
  KernelShape shape{KernelKind::loop, SmallVector<int64_t>(shapeOf(op.getX())), 0};
  Operation *contract = nullptr;
  SmallVector<int64_t, 1> merged;
  if (host) {
    const Cluster &cluster = clusters[*host];
    shape = cluster.shape;
    auto found = llvm::find_if(cluster.ops, llvm::IsaPred<ContractOp>);
    contract = found == cluster.ops.end() ? nullptr : *found;
    merged.push_back(*host);
  }
  if (ArrayRef(shape.shape) != shapeOf(op.getX()))
    return {};
  const SideReductionOf sideOf = formOf(shape.kind).sideReduction;
  const auto side = sideOf ? sideOf(shape, contract, reduced, blocking) : std::nullopt;
  if (!side)
    return {};
  auto [first, rest] = halvesOf(op, *side);
  auto found = legal(merged, first);
  auto waitedFor = found && host ? ahead(merged, first) : SmallVector<int64_t>();
  if (!found || !waitedFor) {
    Operation *reshape = first.getX().getDefiningOp();
    erase(rest);
    erase(first);
    if (reshape && reshape->use_empty() && chains.erase(reshape))
      erase(reshape);
    return {};
  }
  if (host)
    goAhead(std::move(*waitedFor), *host);
  merge(merged, first, *found);
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
  llvm::SetVector<int64_t> hosts;
  for (Operation *producer : producers(op))
    if (const int64_t index = clusterOf.lookup(producer); !clusters[index].opaque)
      hosts.insert(index);
  SmallVector<int64_t> latestFirst = hosts.takeVector();
  llvm::sort(latestFirst, [&](int64_t a, int64_t b) { return clusters[a].last > clusters[b].last; });
  for (int64_t host : latestFirst)
    if (!splitInto(host, op).empty())
      return true;
  const bool whole = op.getAxes().size() == shapeOf(op.getX()).size();
  return whole && elementsOf(op.getX()) > mostElementsOfOneRow && !splitInto(std::nullopt, op).empty();
}

/// A reduction over leading axes whose large operand another kernel reads whole becomes a side reduction there; else, if
/// its result is small, one of a loop kernel of its own, whose blocks are runs of memory.
void BlockFormer::giveReductionsToReaders() {
  DenseMap<Value, std::map<std::vector<int64_t>, Hosts>> known;
  for (int64_t index = 0, end = clusters.size(); index < end; ++index) {
    if (clusters[index].opaque || clusters[index].shape.kind != KernelKind::reduction_loop)
      continue;
    auto reductions = llvm::make_filter_range(clusters[index].ops, llvm::IsaPred<ReduceOp>);
    if (!llvm::hasSingleElement(reductions))
      continue;
    auto op = cast<ReduceOp>(*reductions.begin());
    llvm::SetVector<Value> inputs = inputsOf(op.getOperation(), 2);
    if (inputs.empty() || elementsOf(op.getX()) < bigInput)
      continue;
    auto [readers, isNew] = known.try_emplace(inputs.front());
    if (isNew)
      readers->second = readersByShape(inputs.front());
    const Value sum = op.getY();
    Hosts &hosts = readers->second[shapeOf(op.getX()).vec()];
    const bool isGiven =
        hosts.find([&](int64_t host) { return giveReduction(host, index, op, inputs.getArrayRef()); }).has_value();
    const auto isWhole = [&](Value input) { return shapeOf(input) == shapeOf(op.getX()); };
    if (isGiven || (llvm::any_of(inputs, isWhole) && splitAlone(index, op)))
      known.erase(sum); // which is gone
  }
}

/// The loop and row kernels that read `value` from memory, by their shapes.
std::map<std::vector<int64_t>, Hosts> BlockFormer::readersByShape(Value value) const {
  SmallVector<int64_t> found;
  for (Operation *reader : readersOf(value))
    if (auto cluster = clusterOf.find(reader); cluster != clusterOf.end())
      found.push_back(cluster->second);
  llvm::sort(found);
  std::map<std::vector<int64_t>, Hosts> readers;
  for (int64_t index : found)
    if (const Cluster &reader = clusters[index];
        !reader.opaque && (reader.shape.kind == KernelKind::loop || reader.shape.kind == KernelKind::row))
      readers[{reader.shape.shape.begin(), reader.shape.shape.end()}].add(index);
  return readers;
}

/// Puts the first half of `op`, a reduction of cluster `index` that reads `inputs`, into `host`; false when the two
/// cannot stand together.
bool BlockFormer::giveReduction(int64_t host, int64_t index, ReduceOp op, ArrayRef<Value> inputs) {
  const Cluster &reader = clusters[host];
  llvm::SetVector<Value> read = inputsOf(reader.ops, 2);
  const bool waits = llvm::any_of(reader.ops, [&](Operation *each) {
    return llvm::any_of(producers(each), [&](Operation *producer) { return clusterOf.lookup(producer) == index; });
  });
  if (waits || !llvm::all_of(inputs, [&](Value input) { return read.contains(input); }))
    return false;
  auto before = ahead({host, index}, nullptr);
  if (!before)
    return false;
  const SmallVector<Operation *> stale = readersOf(op.getY()), finish = splitInto(host, op);
  if (finish.empty())
    return false;
  // Whatever waits for the sum waits for the reader now, also what stands before it.
  if (clusterLine.isBefore(index, host)) {
    before->push_back(host);
    goAhead(std::move(*before), index);
  }
  finishIn(index, op, finish, stale);
  return true;
}

/// Puts the first half of `op`, a reduction of cluster `index`, into a loop kernel before it; false when the reduction is
/// small or its result is not, or when the cluster itself makes the operand.
bool BlockFormer::splitAlone(int64_t index, ReduceOp op) {
  constexpr int64_t leastElements = 32768, leastOfEach = 64;
  const auto isMadeHere = [&](Operation *producer) { return clusterOf.lookup(producer) == index; };
  if (elementsOf(op.getX()) < leastElements || elementsOf(op.getX()) < leastOfEach * elementsOf(op.getY()) ||
      llvm::any_of(producers(op), isMadeHere))
    return false;
  const SmallVector<Operation *> stale = readersOf(op.getY()), finish = splitInto(std::nullopt, op);
  if (finish.empty())
    return false;
  goAhead({static_cast<int64_t>(clusters.size()) - 1}, index);
  finishIn(index, op, finish, stale);
  return true;
}

/// Puts `finish`, the rest of the reduction `op` over the blocks' pieces, where the whole stood in cluster `index`. `stale`
/// are the ops that read the sum.
void BlockFormer::finishIn(int64_t index, ReduceOp op, ArrayRef<Operation *> finish, ArrayRef<Operation *> stale) {
  Cluster &cluster = clusters[index];
  auto place = cluster.ops.erase(llvm::find(cluster.ops, op.getOperation()));
  cluster.ops.insert(place, finish.begin(), finish.end());
  for (Operation *each : finish) {
    cluster.last = static_cast<int64_t>(number.size());
    number[each] = cluster.last;
    clusterOf[each] = index;
  }
  clusterOf.erase(op);
  erase(op);
  for (Operation *reading : stale)
    producersOf.erase(reading);
}

} // namespace halftone::compiler
