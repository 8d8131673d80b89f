// form-kernels: loose ops become launches of kernels.
// SPDX-License-Identifier: Apache-2.0
//
//   %0 = contract %x, %w {tile = [96, 128]}
//   %1 = broadcast %b
//   %2 = add %0, %1
//   return %2
// becomes
//   kernel matmul @matmul_0 (...) spec = #halftone.blocks<tile = [96, 128]> { contract, broadcast, add }
//   %2 = launch @matmul_0(%x, %w, %b) {site = "net/dense (train.cpp:12): contract, broadcast, add"}
//   return %2
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/fusion/BuildKernel.h"
#include "compiler/passes/FormKernelsBlock.h"
#include "compiler/passes/LoopIndices.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "compiler/targets/Target.h"
#include "dialect/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Visitors.h"
#include <tuple>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "compiler/passes/Passes.h.inc"

/// Row kernels up to here are small: a launch costs more than their work.
static constexpr int64_t smallRows = 65536;
/// Constants up to here are written out in the plan; longer ones are splats, which a kernel fills in.
static constexpr int64_t mostConstantElements = 64;

/// Whether `op` is a loop that becomes one kernel. Its body stays as it is.
static bool isRecurrence(Operation *op, const Blocking &blocking, Numerics numerics) {
  auto scan = dyn_cast_or_null<ScanOp>(op);
  const auto body = scan && !numerics.formsAlone() ? readRecurrence(scan) : std::nullopt;
  return body && blocking.recurrenceRows(body->traits);
}

/// A window that its readers read in place is copied into them, and so is a reshape of it. Its image comes from memory.
FailureOr<bool> BlockFormer::visitWindow(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Operation *producer = reshape.getX().getDefiningOp();
    const bool isOfWindow = isa_and_nonnull<WindowOp>(producer) && state.cloned.isMarked(producer);
    if (isOfWindow)
      state.cloned.markChain(op);
    return isOfWindow;
  }
  auto window = dyn_cast<WindowOp>(op);
  if (!window || state.cloned.isStored(op) || !isReadInPlace(window))
    return false;
  OpOperand &image = window.getXMutable();
  if (Operation *producer = image.get().getDefiningOp();
      producer && state.cloned.isCloned(producer) && failed(store(image)))
    return failure();
  state.cloned.markChain(op);
  return true;
}

LogicalResult BlockFormer::visit(Operation *op) {
  if (const FailureOr<bool> isWindow = visitWindow(op); failed(isWindow) || *isWindow)
    return failed(isWindow) ? failure() : success();
  if (isRecurrence(op, state.blocking, state.numerics))
    return start(op);
  if (isBranchOrLoop(op) || isa<ReshapeOp, HoldOp, CollectiveOpInterface>(op) ||
      (isa<ConstantOp>(op) &&
       (!isGlue(op) || (state.cloned.isStored(op) && elementsOf(op->getResult(0)) <= mostConstantElements)))) {
    state.graph.addOpaque(op);
    return success();
  }
  if (isGlue(op) && !state.cloned.isStored(op)) {
    if (!state.cloned.escapes(op))
      return success();
    state.cloned.markStored(op);
  }
  if (auto bits = dyn_cast<RandomBitsOp>(op)) { // a kernel takes its key from memory
    OpOperand &key = bits.getKeyMutable();
    if (Operation *producer = key.get().getDefiningOp();
        producer && state.cloned.isCloned(producer) && failed(store(key)))
      return failure();
  }
  if (!state.cloned.isStored(op) && (state.cloned.isUnpacking(op) || becomesChain(op) || isWidenedByReaders(op))) {
    state.cloned.markChain(op);
    return success();
  }
  if (isa<AttentionOp, AttentionGradOp>(op)) {
    if (failed(storeForAttention(op)))
      return failure();
    return start(op);
  }
  if (auto contract = dyn_cast<ContractOp>(op)) {
    storeForContraction(contract);
    state.graph.operandsChanged(op);
    for (Value operand : op->getOperands())
      if (Operation *twin = operand.getDefiningOp();
          twin && state.cloned.isStored(twin) && !state.graph.groupOf(twin) && failed(visit(twin)))
        return failure();
    return start(op);
  }
  if (!state.numerics.formsAlone() && join(op))
    return success();
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && splitReduction(reduce))
    return success();
  if (!state.cloned.isStored(op) && isRecomputed(op)) {
    state.cloned.markChain(op);
    return success();
  }
  return start(op);
}

/// Kernels of one shape that read the same large tensor become one, and small row kernels that share any.
void BlockFormer::joinSiblings() {
  using Alike = std::tuple<KernelKind, int64_t, std::vector<int64_t>>; // of rows: how many axes are outer, and shape
  auto alike = [&](FusionGroupId index) {
    const KernelShape &kernel = state.graph.group(index).shape;
    const bool isRow = kernel.kind == KernelKind::row || kernel.kind == KernelKind::finish;
    return isRow ? Alike(kernel.kind, kernel.outerRank, {kernel.shape.begin(), kernel.shape.end()})
                 : Alike(kernel.kind, 0, {});
  };
  DenseMap<Value, std::map<Alike, FusionCandidates>> readers;
  for (FusionGroupId index = 0, end = state.graph.size(); index < end; ++index) {
    const FusionGroup &group = state.graph.group(index);
    const bool isRow = group.shape.kind == KernelKind::row || group.shape.kind == KernelKind::finish;
    if (!group.isKernel() || group.shape.kind == KernelKind::matmul || group.shape.kind == KernelKind::reduction_loop)
      continue;
    const bool isSmallRow = isRow && ShapedType::getNumElements(group.shape.shape) <= smallRows;
    const llvm::SetVector<Value> inputs = state.cloned.inputsOf(group.ops, isSmallRow ? 2 : bigInput);
    const Alike own = alike(index);
    auto joins = [&](FusionGroupId other) { return alike(other) == own && state.tryMerge(other, index); };
    std::optional<FusionGroupId> host;
    for (Value input : inputs)
      if (!host)
        host = readers[input][own].find(joins);
    const FusionGroupId reader = host.value_or(index);
    for (Value each : inputs)
      readers[each][alike(reader)].add(reader);
  }
}

/// Kernels that give nothing but scalars become few.
void BlockFormer::joinScalarKernels() {
  FusionCandidates leaders;
  for (FusionGroupId index = 0, end = state.graph.size(); index < end; ++index) {
    const FusionGroup &group = state.graph.group(index);
    if (!group.isKernel() || group.shape.kind == KernelKind::matmul)
      continue;
    KernelBody body = state.cloned.bodyOf(group.ops);
    if (!llvm::all_of(body.results, [](Value result) { return shapeOf(result).empty(); }))
      continue;
    if (!leaders.find([&](FusionGroupId leader) { return state.tryMerge(leader, index); }))
      leaders.add(index);
  }
}

LogicalResult BlockFormer::run() {
  storeEscapingConstants();
  if (!state.numerics.formsAlone())
    for (ContractOp contract : state.block.getOps<ContractOp>())
      findUnpacking(contract.getRhs());
  for (Operation *op = &state.block.front(); !op->hasTrait<OpTrait::IsTerminator>();) {
    if (!state.graph.groupOf(op) && !state.cloned.isMarked(op) && failed(visit(op)))
      return failure();
    Operation *next = op->getNextNode();
    if (isa<ReduceOp>(op) && !state.graph.groupOf(op)) { // split in two
      state.erase(op);
    }
    op = next;
  }
  if (!state.numerics.formsAlone()) {
    giveReductionsToReaders();
    joinSiblings();
    joinScalarKernels();
    recomputeStored();
  }
  buildKernels(state);
  for (auto hold : llvm::make_early_inc_range(state.block.getOps<HoldOp>())) {
    hold.replaceAllUsesWith(hold.getX());
    hold.erase();
  }
  return success();
}

namespace {

/// A branch reads a narrow value and widens it itself, rather than read it widened: fewer bytes, the same bits.
void widenInside(Block &branch) {
  DenseMap<Operation *, Value> inside;
  for (Operation &op : branch.without_terminator())
    for (OpOperand &operand : op.getOpOperands()) {
      auto cast = operand.get().getDefiningOp<CastOp>();
      if (!cast || cast->getBlock() == &branch || cast.getKind() != CastKind::rounding)
        continue;
      Type from = getElementTypeOrSelf(cast.getOperand()), to = getElementTypeOrSelf(cast.getResult());
      if (!isa<FloatType>(from) || !isa<FloatType>(to) || from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
        continue;
      Value &twin = inside[cast];
      if (!twin)
        twin = OpBuilder::atBlockBegin(&branch).clone(*cast)->getResult(0);
      operand.set(twin);
    }
}

class FormKernels : public impl::FormKernelsPassBase<FormKernels> {
public:
  using FormKernelsPassBase::FormKernelsPassBase;

private:
  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, strict);
    if (failed(compiled))
      return signalPassFailure();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    const Numerics numerics = compiled->numerics;
    SymbolTable symbols(getOperation());
    carryIndices(main);
    // Inner regions first: the values that they still read from outside are then really read from memory.
    SmallVector<Block *> blocks;
    main.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isRecurrence(op, compiled->target->blocking(numerics), numerics))
        prepareRecurrence(cast<ScanOp>(op));
      if (isBranchOrLoop(op) && !isRecurrence(op, compiled->target->blocking(numerics), numerics))
        for (Region &region : op->getRegions())
          blocks.push_back(&region.front());
    });
    if (!numerics.formsAlone())
      llvm::for_each(blocks, [](Block *branch) { widenInside(*branch); });
    blocks.push_back(&main.getBody().front());
    for (Block *block : blocks) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isOpTriviallyDead(&op))
          op.erase();
      if (failed(BlockFormer(*block, symbols, *compiled->target, numerics).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace halftone::compiler
