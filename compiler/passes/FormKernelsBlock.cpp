// Which ops are cloned, and which kernels an op may join.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernelsBlock.h"
#include "dialect/ControlFlow.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static constexpr int64_t mostChainLoads = 2, mostChainTranscendentals = 2, mostChainOps = 16;

/// A constant that something other than a kernel reads gets a twin for those uses; itself it stays glue.
void BlockFormer::storeEscapingConstants() {
  for (auto constant : llvm::make_early_inc_range(state.block.getOps<ConstantOp>())) {
    if (!isGlue(constant) || !state.cloned.escapes(constant))
      continue;
    OpBuilder builder(constant);
    Operation *twin = builder.clone(*constant);
    state.cloned.markStored(twin);
    constant->replaceUsesWithIf(twin, [&](OpOperand &use) { return state.cloned.readsMemory(use.getOwner()); });
  }
}

bool BlockFormer::becomesChain(Operation *op) {
  if (state.numerics.formsAlone() || !(isa<ElementwiseOpInterface, RandomBitsOp>(op)) || state.cloned.escapes(op))
    return false;
  if (!state.graph.producerKernels(op).empty())
    return false;
  KernelBody body = state.cloned.bodyOf(op);
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
  if (state.numerics.formsAlone() || !cast || cast.getKind() != CastKind::rounding || state.cloned.escapes(op))
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
    return contract && reader->getBlock() == &state.block && state.target.lowerings().readsWindows() &&
           windowOf(contract) == op && contract.getRhs() != contract.getLhs();
  };
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp>(user))
      return llvm::all_of(user->getUsers(), isMatrix);
    if (user->getBlock() != &state.block)
      return false;
    return isa<ElementwiseOpInterface, ReduceOp>(user) || isMatrix(user) ||
           (isa<BroadcastOp>(user) && isReducedBeforeLast(user));
  });
}

/// Puts `op` into the kernels of its producers: all of them, or as many as go, the latest first.
bool BlockFormer::join(Operation *op) {
  const SmallVector<FusionGroupId> candidates = state.graph.producerKernels(op);
  if (candidates.empty())
    return false;
  std::optional<Fusion> fusion = state.plan(candidates, op);
  if (!fusion) {
    SmallVector<FusionGroupId> taken;
    for (FusionGroupId candidate : candidates) {
      taken.push_back(candidate);
      if (auto larger = state.plan(taken, op))
        fusion = std::move(larger);
      else
        taken.pop_back();
    }
  }
  if (fusion)
    state.fuse(std::move(*fusion));
  return fusion.has_value();
}

/// Stores the cloned producer behind `operand`.
LogicalResult BlockFormer::store(OpOperand &operand) {
  operand.set(state.cloned.materialize(operand.get(), operand.getOwner()));
  state.graph.operandsChanged(operand.getOwner());
  Operation *stored = operand.get().getDefiningOp();
  return state.graph.groupOf(stored) ? success() : visit(stored);
}

/// Starts a kernel with `op` alone; cloned producers that its kind cannot take are stored first.
LogicalResult BlockFormer::start(Operation *op) {
  std::optional<Fusion> fusion = state.plan({}, op);
  if (!fusion) {
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *producer = operand.get().getDefiningOp(); producer && state.cloned.isCloned(producer))
        if (failed(store(operand)))
          return failure();
    fusion = state.plan({}, op);
  }
  if (!fusion)
    return op->emitOpError("fits no kind of kernel; expected normalize to have split it");
  state.fuse(std::move(*fusion));
  return success();
}

/// Whether `value` is a packed weight or elementwise work on one. Notes the ops of that work, which a contraction takes as its
/// prologue, however many tensors they read.
bool BlockFormer::findUnpacking(Value value) {
  if (PanelsAttr::of(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &state.block || !isa<ElementwiseOpInterface>(op))
    return false;
  if (state.cloned.isUnpacking(op))
    return true;
  SmallVector<Value> others;
  for (Value operand : op->getOperands())
    if (!findUnpacking(operand))
      others.push_back(operand);
  if (others.size() == op->getNumOperands())
    return false;
  llvm::for_each(others, [&](Value other) { findBesideUnpacking(other); });
  state.cloned.markUnpacking(op);
  return true;
}

/// Rows that are looked up in a tensor in memory, for each row of the weight, are looked up by the contraction too.
void BlockFormer::findBesideUnpacking(Value value) {
  Operation *op = value.getDefiningOp();
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!op || op->getBlock() != &state.block || state.cloned.escapes(op) || !(isa<CastOp>(op) || gather) ||
      (gather && !isa<BlockArgument>(gather.getX())))
    return;
  state.cloned.markUnpacking(op);
  findBesideUnpacking(gather ? gather.getIndices() : op->getOperand(0));
}

/// A contraction takes a copy as its prologue when that reads one tensor of the operand's size, and no larger one.
void BlockFormer::storeForContraction(ContractOp op) {
  const WindowOp window = windowOf(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    const bool isThroughWindow = operand.getOperandNumber() == 0 && window && state.cloned.isMarked(window);
    if (!producer || !state.cloned.isCloned(producer) || isThroughWindow || state.cloned.isUnpacking(producer))
      continue;
    KernelBody body = state.cloned.bodyOf(producer);
    DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
    DenseSet<Value> loads;
    bool cheap = llvm::all_of(body.ops, isPrologueOp);
    for (Operation *each : body.ops)
      for (Value read : each->getOperands())
        if (!inBody.contains(read.getDefiningOp()) && elementsOf(read) > 1)
          loads.insert(read);
    if (state.numerics.formsAlone() || !cheap || loads.size() != 1 ||
        elementsOf(*loads.begin()) != elementsOf(operand.get()))
      operand.set(state.cloned.materialize(operand.get(), op));
  }
}

/// Whether `op`, an attention or its gradient, makes the elements of its mask where it needs them: by few ops, of
/// tensors that are small beside its scores.
bool BlockFormer::isMadeByAttention(Operation *op, Value mask) {
  constexpr int64_t scoresForOneElement = 16;
  const SmallVector<int64_t, 4> scores =
      isa<AttentionOp>(op) ? cast<AttentionOp>(op).getScoreShape() : cast<AttentionGradOp>(op).getScoreShape();
  const KernelBody body = state.cloned.bodyOf(mask.getDefiningOp());
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  const auto isSmall = [&](Value operand) {
    return inBody.contains(operand.getDefiningOp()) || elementsOf(operand) == 1 ||
           elementsOf(operand) * scoresForOneElement <= ShapedType::getNumElements(scores);
  };
  return !state.numerics.formsAlone() && static_cast<int64_t>(body.ops.size()) <= mostChainOps &&
         llvm::all_of(body.ops, [&](Operation *each) {
           return isPointwise(each) && !isTranscendental(each) && llvm::all_of(each->getOperands(), isSmall);
         });
}

/// Stores copies that `op`, an attention or its gradient, reads, but for a mask that it makes itself.
LogicalResult BlockFormer::storeForAttention(Operation *op) {
  const Value mask = isa<AttentionOp>(op) ? cast<AttentionOp>(op).getMask() : cast<AttentionGradOp>(op).getMask();
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || !state.cloned.isCloned(producer) || (operand.get() == mask && isMadeByAttention(op, mask)))
      continue;
    if (failed(store(operand)))
      return failure();
  }
  return success();
}

} // namespace halftone::compiler
