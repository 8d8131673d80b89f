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
    const bool isOfWindow = isa_and_nonnull<WindowOp>(producer) && chains.contains(producer);
    if (isOfWindow)
      chains.insert(op);
    return isOfWindow;
  }
  auto window = dyn_cast<WindowOp>(op);
  if (!window || stored.contains(op) || !isReadInPlace(window))
    return false;
  OpOperand &image = window.getXMutable();
  if (Operation *producer = image.get().getDefiningOp(); producer && isCopy(producer)) {
    image.set(store(image.get(), op));
    if (Operation *twin = image.get().getDefiningOp(); !clusterOf.contains(twin) && failed(visit(twin)))
      return failure();
  }
  chains.insert(op);
  return true;
}

LogicalResult BlockFormer::visit(Operation *op) {
  if (const FailureOr<bool> isWindow = visitWindow(op); failed(isWindow) || *isWindow)
    return failed(isWindow) ? failure() : success();
  if (isRecurrence(op, blocking, numerics))
    return start(op);
  if (isBranchOrLoop(op) || isa<ReshapeOp, HoldOp, CollectiveOpInterface>(op) ||
      (isa<ConstantOp>(op) &&
       (!isGlue(op) || (stored.contains(op) && elementsOf(op->getResult(0)) <= mostConstantElements)))) {
    clusters[merge({}, op, {})].opaque = true;
    return success();
  }
  if (isGlue(op) && !stored.contains(op)) {
    if (!escapes(op))
      return success();
    stored.insert(op);
  }
  if (auto bits = dyn_cast<RandomBitsOp>(op)) { // a kernel takes its key from memory
    OpOperand &key = bits.getKeyMutable();
    if (Operation *producer = key.get().getDefiningOp(); producer && isCopy(producer)) {
      key.set(store(key.get(), op));
      producersOf.erase(op);
      if (Operation *twin = key.get().getDefiningOp(); !clusterOf.contains(twin) && failed(visit(twin)))
        return failure();
    }
  }
  if (!stored.contains(op) && (unpacking.contains(op) || becomesChain(op) || isWidenedByReaders(op))) {
    chains.insert(op);
    return success();
  }
  if (isa<AttentionOp, AttentionGradOp>(op)) {
    if (failed(storeForAttention(op)))
      return failure();
    return start(op);
  }
  if (auto contract = dyn_cast<ContractOp>(op)) {
    storeForContraction(contract);
    producersOf.erase(op);
    for (Value operand : op->getOperands())
      if (Operation *twin = operand.getDefiningOp();
          twin && stored.contains(twin) && !clusterOf.contains(twin) && failed(visit(twin)))
        return failure();
    return start(op);
  }
  if (!numerics.formsAlone() && join(op))
    return success();
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && splitReduction(reduce))
    return success();
  if (!stored.contains(op) && isRemade(op)) {
    chains.insert(op);
    return success();
  }
  return start(op);
}

/// Puts the ops of cluster `index` into `host`; false when no form holds them together, or when one of the two waits for
/// a third that waits for the other.
bool BlockFormer::joinClusters(int64_t host, int64_t index) {
  auto shape = legal({host, index}, nullptr);
  auto before = shape ? ahead({host, index}, nullptr) : std::nullopt;
  if (!before)
    return false;
  goAhead(std::move(*before), earliest({host, index}));
  merge({host, index}, nullptr, *shape);
  return true;
}

/// Kernels of one shape that read the same large tensor become one, and small row kernels that share any.
void BlockFormer::joinSiblings() {
  using Alike = std::tuple<KernelKind, int64_t, std::vector<int64_t>>; // of rows: how many axes are outer, and shape
  auto alike = [&](int64_t index) {
    const KernelShape &kernel = clusters[index].shape;
    const bool isRow = kernel.kind == KernelKind::row || kernel.kind == KernelKind::finish;
    return isRow ? Alike(kernel.kind, kernel.outerRank, {kernel.shape.begin(), kernel.shape.end()})
                 : Alike(kernel.kind, 0, {});
  };
  DenseMap<Value, std::map<Alike, Hosts>> readers;
  for (int64_t index = 0, end = clusters.size(); index < end; ++index) {
    const Cluster &cluster = clusters[index];
    const bool isRow = cluster.shape.kind == KernelKind::row || cluster.shape.kind == KernelKind::finish;
    if (cluster.opaque || cluster.ops.empty() || cluster.shape.kind == KernelKind::matmul ||
        cluster.shape.kind == KernelKind::reduction_loop)
      continue;
    const bool isSmallRow = isRow && ShapedType::getNumElements(cluster.shape.shape) <= smallRows;
    const llvm::SetVector<Value> inputs = inputsOf(cluster.ops, isSmallRow ? 2 : bigInput);
    const Alike own = alike(index);
    auto joins = [&](int64_t other) { return alike(other) == own && joinClusters(other, index); };
    std::optional<int64_t> host;
    for (Value input : inputs)
      if (!host)
        host = readers[input][own].find(joins);
    const int64_t reader = host.value_or(index);
    for (Value each : inputs)
      readers[each][alike(reader)].add(reader);
  }
}

/// Kernels that give nothing but scalars become few.
void BlockFormer::joinScalarKernels() {
  Hosts leaders;
  for (int64_t index = 0, end = clusters.size(); index < end; ++index) {
    if (clusters[index].opaque || clusters[index].ops.empty() || clusters[index].shape.kind == KernelKind::matmul)
      continue;
    KernelBody body = bodyOf(clusters[index].ops);
    if (!llvm::all_of(body.results, [](Value result) { return shapeOf(result).empty(); }))
      continue;
    if (!leaders.find([&](int64_t leader) { return joinClusters(leader, index); }))
      leaders.add(index);
  }
}

void BlockFormer::emit(int64_t index) {
  Cluster &cluster = clusters[index];
  if (emitted[index] || cluster.ops.empty())
    return;
  emitted[index] = true;
  for (Operation *op : cluster.ops)
    for (Operation *producer : producers(op))
      emit(clusterOf.lookup(producer));
  if (cluster.opaque) {
    placed.push_back(cluster.ops.front());
    return;
  }
  KernelBody body = bodyOf(cluster.ops);
  Operation *top = symbols.getOp();
  Operation *anchor = block.getParentOp();
  while (anchor->getParentOp() != top)
    anchor = anchor->getParentOp();
  OpBuilder builder(anchor);
  SmallVector<Value> inputs;
  std::string name = (stringifyKernelKind(cluster.shape.kind) + "_0").str();
  KernelOp kernel = buildKernel(builder, body, cluster.shape, name, blocking, inputs);
  symbols.insert(kernel, Block::iterator(anchor));
  builder.setInsertionPoint(block.getTerminator());
  auto launch = LaunchOp::create(builder, kernel.getLoc(), ValueRange(body.results).getTypes(), kernel.getSymName(),
                                 inputs, siteOf(body));
  for (auto [result, output] : llvm::zip_equal(body.results, launch.getOutputs())) {
    Value old = result;
    old.replaceAllUsesWith(output);
  }
  placed.push_back(launch);
}

void BlockFormer::emitAll() {
  SmallVector<Operation *> loose;
  for (Operation &op : block.without_terminator())
    if (!clusterOf.contains(&op) || !clusters[clusterOf.lookup(&op)].opaque)
      loose.push_back(&op);
  // All waiting is settled before the first replacement, which hides where values came from.
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (int64_t index = 0, end = clusters.size(); index < end; ++index) {
    if (!clusters[index].ops.empty())
      order.push_back({clusters[index].last, index});
    for (Operation *op : clusters[index].ops)
      producers(op);
  }
  llvm::sort(order);
  emitted.assign(clusters.size(), false);
  for (auto [last, index] : order)
    emit(index);
  for (Operation *op :
       placed) // now that nobody asks any more which op of the block comes first: moves make that forgotten
    op->moveBefore(block.getTerminator());
  for (Operation *op : llvm::reverse(loose))
    if (op->use_empty())
      op->erase();
}

LogicalResult BlockFormer::run() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  Operation *collective = nullptr;
  for (Operation &op : block)
    if (isa<CollectiveOpInterface>(op)) {
      if (Operation *before = std::exchange(collective, &op))
        collectiveBefore[&op] = before;
    }
  storeEscapingConstants();
  if (!numerics.formsAlone())
    for (ContractOp contract : block.getOps<ContractOp>())
      findUnpacking(contract.getRhs());
  for (Operation *op = &block.front(); !op->hasTrait<OpTrait::IsTerminator>();) {
    if (!clusterOf.contains(op) && !chains.contains(op) && failed(visit(op)))
      return failure();
    Operation *next = op->getNextNode();
    if (isa<ReduceOp>(op) && !clusterOf.contains(op)) { // split in two
      erase(op);
    }
    op = next;
  }
  if (!numerics.formsAlone()) {
    giveReductionsToReaders();
    joinSiblings();
    joinScalarKernels();
    remakeStored();
  }
  emitAll();
  for (auto hold : llvm::make_early_inc_range(block.getOps<HoldOp>())) {
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
    for (Block *block : blocks)
      if (failed(BlockFormer(*block, symbols, *compiled->target, numerics).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
