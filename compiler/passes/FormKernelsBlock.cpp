// Clusters of ops: which ops are copied, and which kernels an op may join.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernelsBlock.h"
#include "dialect/ControlFlow.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static constexpr int64_t mostChainLoads = 2, mostChainTranscendentals = 2, mostChainOps = 16;
/// Home ops of one kernel, and the sum of their costs. Each op that joins has all of them looked at again, and LLVM takes
/// more than linear time in the length of a body.
static constexpr size_t mostHomeOps = 256;
static constexpr int64_t mostHomeCost = 6000;

/// Whether `user` is no op of a kernel of this block: it reads its operands from memory.
bool BlockFormer::readsMemory(Operation *user) const {
  return user->getBlock() != &block || user->hasTrait<OpTrait::IsTerminator>() || isBranchOrLoop(user) ||
         isa<ReshapeOp, HoldOp, CollectiveOpInterface>(user);
}

bool BlockFormer::escapes(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) { return readsMemory(user); });
}

/// A constant that something other than a kernel reads gets a twin for those uses; itself it stays glue.
void BlockFormer::storeEscapingConstants() {
  for (auto constant : llvm::make_early_inc_range(block.getOps<ConstantOp>())) {
    if (!isGlue(constant) || !escapes(constant))
      continue;
    OpBuilder builder(constant);
    Operation *twin = builder.clone(*constant);
    stored.insert(twin);
    constant->replaceUsesWithIf(twin, [&](OpOperand &use) { return readsMemory(use.getOwner()); });
  }
}

/// The ops of this block, kernels-to-be and opaque ones, that `op` waits for, seen through copies. A collective also
/// waits for the one before it: else a kernel could make a value for it, and read a value of a later one.
const SmallVector<Operation *> &BlockFormer::producers(Operation *op) {
  auto [place, isNew] = producersOf.try_emplace(op);
  if (!isNew)
    return place->second;
  llvm::SetVector<Operation *> found;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    open.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != &block || !seen.insert(producer).second)
          continue;
        if (isCopy(producer))
          open.push_back(producer);
        else
          found.insert(producer);
      }
    });
  }
  if (auto before = collectiveBefore.find(op); before != collectiveBefore.end())
    found.insert(before->second);
  return producersOf[op] = found.takeVector();
}

bool BlockFormer::becomesChain(Operation *op) {
  if (numerics.formsAlone() || !(isa<ElementwiseOpInterface, RandomBitsOp>(op)) || escapes(op))
    return false;
  if (llvm::any_of(producers(op), [&](Operation *producer) { return !clusters[clusterOf.lookup(producer)].opaque; }))
    return false;
  KernelBody body = bodyOf(op);
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  DenseSet<Value> loads;
  int64_t transcendentals = 0;
  for (Operation *each : body.ops) {
    transcendentals += isTranscendental(each);
    for (Value operand : each->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) > 1)
        loads.insert(operand);
  }
  return static_cast<int64_t>(loads.size()) <= mostChainLoads && transcendentals <= mostChainTranscendentals &&
         static_cast<int64_t>(body.ops.size()) <= mostChainOps;
}

/// Whether the readers of `op` widen its operand themselves: memory holds the narrow value. A contraction or lookup reads
/// the value as it is.
bool BlockFormer::isWidenedByReaders(Operation *op) const {
  auto cast = dyn_cast<CastOp>(op);
  if (numerics.formsAlone() || !cast || cast.getKind() != CastKind::rounding || escapes(op))
    return false;
  const Type from = getElementTypeOrSelf(cast.getOperand()), to = getElementTypeOrSelf(cast.getResult());
  return isa<FloatType>(from) && isa<FloatType>(to) && from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth() &&
         elementsOf(cast.getResult()) >= bigInput &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<ElementwiseOpInterface, ReduceOp>);
}

/// Whether `op`, or elementwise work on it, is only read by reductions that keep its last axis: their kernels hold windows.
static bool isReducedBeforeLast(Operation *op, int depth = 0) {
  constexpr int deepest = 4;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<ReduceOp>(user))
      return !llvm::is_contained(reduce.getAxes(), cast<RankedTensorType>(reduce.getOperand().getType()).getRank() - 1);
    return isa<ElementwiseOpInterface>(user) && user->getBlock() == op->getBlock() && depth < deepest &&
           isReducedBeforeLast(user, depth + 1);
  });
}

/// Whether all readers of `op` read the image through the window: matmuls whose left operand it is, if the target's read
/// windows, elementwise work, sums over taps, and broadcasts for sums over taps.
bool BlockFormer::isReadInPlace(WindowOp op) const {
  const auto isMatrix = [&](Operation *reader) {
    auto contract = dyn_cast<ContractOp>(reader);
    return contract && reader->getBlock() == &block && target.lowerings().readsWindows() && windowOf(contract) == op &&
           contract.getRhs() != contract.getLhs();
  };
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp>(user))
      return llvm::all_of(user->getUsers(), isMatrix);
    if (user->getBlock() != &block)
      return false;
    return isa<ElementwiseOpInterface, ReduceOp>(user) || isMatrix(user) ||
           (isa<BroadcastOp>(user) && isReducedBeforeLast(user));
  });
}

/// The ops a kernel of `home` holds: home and, through operands, copies.
KernelBody BlockFormer::bodyOf(ArrayRef<Operation *> home) {
  KernelBody body;
  body.home.insert(home.begin(), home.end());
  DenseSet<Operation *> seen(home.begin(), home.end());
  body.ops.assign(home.begin(), home.end());
  for (size_t next = 0; next < body.ops.size(); ++next)
    for (Value operand : body.ops[next]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !seen.contains(op) && isCopy(op)) {
        seen.insert(op);
        body.ops.push_back(op);
      }
  sortByPlace(body.ops);
  for (Operation *op : body.ops)
    if (body.home.contains(op))
      for (OpResult result : op->getResults()) {
        auto scan = dyn_cast<ScanOp>(op); // which carries values whether or not somebody reads the last
        if (isRead(result, body) || (scan && llvm::is_contained(scan.getLasts(), result)))
          body.results.push_back(result);
      }
  return body;
}

/// Whether anything outside `body` reads `value`.
bool BlockFormer::isRead(Value value, const KernelBody &body) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (body.home.contains(user))
      return false;
    if (user->getBlock() == &block && isCopy(user))
      return llvm::any_of(user->getResults(), [&](Value result) { return isRead(result, body); });
    return true;
  });
}

/// The item of `opLine` that stands for an op of the block; for a new op, and new ones before it, made now.
size_t BlockFormer::itemOf(Operation *op) {
  SmallVector<Operation *> fresh;
  Operation *known = op;
  for (; known && !opItems.contains(known); known = known->getPrevNode())
    fresh.push_back(known);
  size_t left = known ? opItems.lookup(known) : Line::end;
  for (Operation *each : llvm::reverse(fresh))
    left = opItems[each] = opLine.add(left);
  return left;
}

/// Sorts ops of this block, and copies in blocks around it, which come first, by where they stand.
void BlockFormer::sortByPlace(SmallVectorImpl<Operation *> &ops) {
  auto depth = [](Operation *op) {
    int64_t levels = 0;
    while ((op = op->getParentOp()))
      ++levels;
    return levels;
  };
  auto *inside = llvm::partition(ops, [&](Operation *op) { return op->getBlock() != &block; });
  std::sort(ops.begin(), inside, [&](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() ? a->isBeforeInBlock(b) : depth(a) < depth(b);
  });
  for (Operation *op : llvm::make_range(inside, ops.end()))
    (void)itemOf(op); // new items change the places of others: all are made before any place is asked for
  auto byPlace = llvm::map_to_vector(llvm::make_range(inside, ops.end()),
                                     [&](Operation *op) { return std::pair(opLine.place(opItems.lookup(op)), op); });
  llvm::sort(byPlace);
  llvm::transform(byPlace, inside, [](const auto &each) { return each.second; });
}

void BlockFormer::erase(Operation *op) {
  if (auto item = opItems.find(op); item != opItems.end()) {
    opLine.remove(item->second);
    opItems.erase(item);
  }
  producersOf.erase(op);
  op->erase();
}

/// The ops that read `value`, seen through copies; copies too.
SmallVector<Operation *> BlockFormer::readersOf(Value value) const {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *here = user;
      while (here && here->getBlock() != &block)
        here = here->getParentOp();
      Operation *reader = here ? here : user; // a copy may stand in a block around
      if (found.insert(reader) && isCopy(reader))
        llvm::append_range(open, reader->getResults());
    }
  return found.takeVector();
}

/// The sum of the ops' costs per element (ComputeOpInterface).
static int64_t costOf(ArrayRef<Operation *> ops) {
  int64_t cost = 0;
  for (Operation *op : ops)
    if (auto compute = dyn_cast<ComputeOpInterface>(op))
      cost += compute.getCost();
  return cost;
}

std::optional<KernelShape> BlockFormer::legal(ArrayRef<int64_t> merged, Operation *op) {
  SmallVector<Operation *> home;
  for (int64_t index : merged)
    llvm::append_range(home, clusters[index].ops);
  if (op)
    home.push_back(op);
  if (home.size() > mostHomeOps || (home.size() > 1 && costOf(home) > mostHomeCost))
    return std::nullopt;
  KernelBody body = bodyOf(home);
  auto shape = classify(body, blocking);
  if (!shape)
    return std::nullopt;
  if (!numerics.formsAlone() && shape->kind == KernelKind::row && merged.size() + (op ? 1 : 0) > 1 &&
      ShapedType::getNumElements(ArrayRef(shape->shape).take_front(shape->outerRank)) == 1 &&
      ShapedType::getNumElements(shape->shape) > mostElementsOfOneRow)
    return std::nullopt;
  return shape;
}

int64_t BlockFormer::earliest(ArrayRef<int64_t> merged) const {
  return *llvm::min_element(merged, [&](int64_t a, int64_t b) { return clusterLine.isBefore(a, b); });
}

/// The clusters that a kernel of `merged` and `op` waits for and that stand behind the first of `merged`; nothing when
/// one of them waits for that kernel.
std::optional<SmallVector<int64_t>> BlockFormer::ahead(ArrayRef<int64_t> merged, Operation *op) {
  const int64_t first = earliest(merged);
  llvm::SetVector<int64_t> found;
  auto push = [&](Operation *user) {
    for (Operation *producer : producers(user)) {
      int64_t index = clusterOf.lookup(producer);
      if (!llvm::is_contained(merged, index) && clusterLine.isBefore(first, index))
        found.insert(index);
    }
  };
  for (int64_t index : merged)
    if (index != first)
      llvm::for_each(clusters[index].ops, push);
  if (op)
    push(op);
  for (size_t next = 0; next < found.size(); ++next)
    for (Operation *each : ArrayRef(clusters[found[next]].ops)) {
      for (Operation *producer : producers(each))
        if (llvm::is_contained(merged, clusterOf.lookup(producer)))
          return std::nullopt;
      push(each);
    }
  return llvm::to_vector(found);
}

std::optional<int64_t> Hosts::find(llvm::function_ref<bool(int64_t)> joins) {
  constexpr int64_t mostRefusals = 32;
  std::optional<int64_t> found;
  for (Host &host : open) {
    if (joins(host.cluster)) {
      found = host.cluster;
      host.refusals = 0;
      break;
    }
    ++host.refusals;
  }
  std::erase_if(open, [](const Host &host) { return host.refusals >= mostRefusals; });
  return found;
}

/// Puts clusters before `cluster`, which none of them waits for, as they stand.
void BlockFormer::goAhead(SmallVector<int64_t> going, int64_t cluster) {
  llvm::sort(going, [&](int64_t a, int64_t b) { return clusterLine.isBefore(a, b); });
  for (int64_t index : going)
    clusterLine.remove(index);
  clusterLine.put(clusterLine.previous(cluster), SmallVector<size_t>(going.begin(), going.end()));
}

int64_t BlockFormer::merge(ArrayRef<int64_t> merged, Operation *op, KernelShape shape) {
  int64_t index = merged.empty() ? static_cast<int64_t>(clusters.size()) : merged.front();
  if (merged.empty()) {
    clusters.push_back({{}, static_cast<int64_t>(number.size()), false, {}});
    clusterLine.append();
  } else if (merged.size() > 1) {
    const size_t place = clusterLine.previous(earliest(merged));
    for (int64_t each : merged)
      clusterLine.remove(each);
    clusterLine.put(place, index);
  }
  Cluster &target = clusters[index];
  for (int64_t other : merged.drop_front(merged.empty() ? 0 : 1)) {
    Cluster &source = clusters[other];
    for (Operation *each : source.ops)
      clusterOf[each] = index;
    llvm::append_range(target.ops, source.ops);
    target.last = std::max(target.last, source.last);
    source.ops.clear();
  }
  if (op) {
    int64_t position = number.size();
    number[op] = position;
    clusterOf[op] = index;
    target.ops.push_back(op);
    target.last = std::max(target.last, position);
  }
  target.shape = std::move(shape);
  return index;
}

/// Puts `op` into the kernels of its producers: all of them, or as many as go, the latest first.
bool BlockFormer::join(Operation *op) {
  llvm::SetVector<int64_t> unordered;
  for (Operation *producer : producers(op))
    if (int64_t index = clusterOf.lookup(producer); !clusters[index].opaque)
      unordered.insert(index);
  SmallVector<int64_t> candidates = unordered.takeVector(), taken, before;
  llvm::sort(candidates, [&](int64_t a, int64_t b) { return clusters[a].last > clusters[b].last; });
  std::optional<KernelShape> shape;
  auto attempt = [&](ArrayRef<int64_t> merged) {
    auto found = legal(merged, op);
    auto waitedFor = found ? ahead(merged, op) : std::nullopt;
    if (!waitedFor)
      return false;
    shape = std::move(found);
    before = std::move(*waitedFor);
    return true;
  };
  if (!candidates.empty() && attempt(candidates)) {
    taken = candidates;
  } else {
    for (int64_t candidate : candidates) {
      taken.push_back(candidate);
      if (!attempt(taken))
        taken.pop_back();
    }
  }
  if (taken.empty())
    return false;
  goAhead(std::move(before), earliest(taken));
  merge(taken, op, *shape);
  return true;
}

/// A copy of the op behind `value`, read from memory by `user`.
Value BlockFormer::store(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  Operation *&twin = storedCopy[op];
  if (!twin) {
    OpBuilder builder(user);
    twin = builder.clone(*op);
    stored.insert(twin);
  }
  return twin->getResult(0);
}

/// Starts a kernel with `op` alone; copies that its kind cannot take are stored first.
LogicalResult BlockFormer::start(Operation *op) {
  auto shape = legal({}, op);
  if (!shape) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      if (!producer || !isCopy(producer))
        continue;
      operand.set(store(operand.get(), op));
      if (Operation *twin = operand.get().getDefiningOp(); !clusterOf.contains(twin) && failed(visit(twin)))
        return failure();
    }
    producersOf.erase(op);
    shape = legal({}, op);
  }
  if (!shape)
    return op->emitOpError("fits no kind of kernel; expected normalize to have split it");
  merge({}, op, *shape);
  return success();
}

/// Whether `value` is a packed weight or elementwise work on one. Notes the ops of that work, which a contraction takes as its
/// prologue, however many tensors they read.
bool BlockFormer::findUnpacking(Value value) {
  if (PanelsAttr::of(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block || !isa<ElementwiseOpInterface>(op))
    return false;
  if (unpacking.contains(op))
    return true;
  SmallVector<Value> others;
  for (Value operand : op->getOperands())
    if (!findUnpacking(operand))
      others.push_back(operand);
  if (others.size() == op->getNumOperands())
    return false;
  llvm::for_each(others, [&](Value other) { findBesideUnpacking(other); });
  unpacking.insert(op);
  return true;
}

/// Rows that are looked up in a tensor in memory, for each row of the weight, are looked up by the contraction too.
void BlockFormer::findBesideUnpacking(Value value) {
  Operation *op = value.getDefiningOp();
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!op || op->getBlock() != &block || escapes(op) || !(isa<CastOp>(op) || gather) ||
      (gather && !isa<BlockArgument>(gather.getX())))
    return;
  unpacking.insert(op);
  findBesideUnpacking(gather ? gather.getIndices() : op->getOperand(0));
}

/// A contraction takes a copy as its prologue when that reads one tensor of the operand's size, and no larger one.
void BlockFormer::storeForContraction(ContractOp op) {
  const WindowOp window = windowOf(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    const bool isThroughWindow = operand.getOperandNumber() == 0 && window && chains.contains(window);
    if (!producer || !isCopy(producer) || isThroughWindow || unpacking.contains(producer))
      continue;
    KernelBody body = bodyOf(producer);
    DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
    DenseSet<Value> loads;
    bool cheap = llvm::all_of(body.ops, isPrologueOp);
    for (Operation *each : body.ops)
      for (Value read : each->getOperands())
        if (!inBody.contains(read.getDefiningOp()) && elementsOf(read) > 1)
          loads.insert(read);
    if (numerics.formsAlone() || !cheap || loads.size() != 1 || elementsOf(*loads.begin()) != elementsOf(operand.get()))
      operand.set(store(operand.get(), op));
  }
}

/// Whether `op`, an attention or its gradient, makes the elements of its mask where it needs them: by few ops, of
/// tensors that are small beside its scores.
bool BlockFormer::isMadeByAttention(Operation *op, Value mask) {
  constexpr int64_t scoresForOneElement = 16;
  const SmallVector<int64_t, 4> scores =
      isa<AttentionOp>(op) ? cast<AttentionOp>(op).getScoreShape() : cast<AttentionGradOp>(op).getScoreShape();
  const KernelBody body = bodyOf(mask.getDefiningOp());
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  const auto isSmall = [&](Value operand) {
    return inBody.contains(operand.getDefiningOp()) || elementsOf(operand) == 1 ||
           elementsOf(operand) * scoresForOneElement <= ShapedType::getNumElements(scores);
  };
  return !numerics.formsAlone() && static_cast<int64_t>(body.ops.size()) <= mostChainOps &&
         llvm::all_of(body.ops, [&](Operation *each) {
           return isPointwise(each) && !isTranscendental(each) && llvm::all_of(each->getOperands(), isSmall);
         });
}

/// Stores copies that `op`, an attention or its gradient, reads, but for a mask that it makes itself.
LogicalResult BlockFormer::storeForAttention(Operation *op) {
  const Value mask = isa<AttentionOp>(op) ? cast<AttentionOp>(op).getMask() : cast<AttentionGradOp>(op).getMask();
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || !isCopy(producer) || (operand.get() == mask && isMadeByAttention(op, mask)))
      continue;
    operand.set(store(operand.get(), op));
    if (Operation *twin = operand.get().getDefiningOp(); !clusterOf.contains(twin) && failed(visit(twin)))
      return failure();
  }
  producersOf.erase(op);
  return success();
}

/// The values of at least so many elements that a kernel of `home` reads.
llvm::SetVector<Value> BlockFormer::inputsOf(ArrayRef<Operation *> home, int64_t leastElements) {
  KernelBody body = bodyOf(home);
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  llvm::SetVector<Value> inputs;
  for (Operation *op : body.ops)
    for (Value operand : op->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) >= leastElements)
        inputs.insert(operand);
  return inputs;
}

} // namespace halftone::compiler
