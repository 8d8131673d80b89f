// Converts fusion groups to kernel ops and launches.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/BuildKernel.h"
#include "compiler/forms/Forms.h"
#include "compiler/reports/FusionReport.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/ControlFlow.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// The ops of `body` on which `roots` and their operands depend, up to contractions.
DenseSet<Operation *> readBy(ArrayRef<Operation *> roots, const KernelBody &body) {
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end()), found;
  SmallVector<Operation *> open(roots);
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && inBody.contains(op) && found.insert(op).second)
        if (!isa<ContractOp>(op))
          open.push_back(op);
  return found;
}

/// How a kernel indexes an operand. A value that is indexed in two ways becomes two operands. The operands of attention
/// and of a loop have one value each, from `perOperand` on.
enum Indexing : unsigned { atOwnIndices, lookedUp, perOperand };

unsigned indexingOf(OpOperand &operand) {
  const unsigned number = operand.getOperandNumber();
  if (isa<AttentionOp, AttentionGradOp, ScanOp>(operand.getOwner()))
    return perOperand + number;
  return number < lookedUpOperands(operand.getOwner()).size() ? lookedUp : atOwnIndices;
}

/// The ops of `body` in an order that depends only on its results and operands, so that equal kernels have equal texts
/// regardless of program order.
SmallVector<Operation *> canonicalOrder(const KernelBody &body) {
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end()), done;
  SmallVector<Operation *> order;
  auto place = [&](Operation *root) {
    SmallVector<std::pair<Operation *, unsigned>> open{{root, 0}};
    while (!open.empty()) {
      auto &[op, next] = open.back();
      if (next == op->getNumOperands()) {
        if (done.insert(op).second)
          order.push_back(op);
        open.pop_back();
        continue;
      }
      Operation *producer = op->getOperand(next++).getDefiningOp();
      if (producer && inBody.contains(producer) && !done.contains(producer))
        open.push_back({producer, 0});
    }
  };
  for (Value result : body.results)
    place(result.getDefiningOp());
  return order;
}

BlocksAttr specOf(MLIRContext *context, const KernelBody &body, const KernelShape &shape, const Blocking &blocking) {
  for (Operation *op : body.ops)
    if (auto contract = dyn_cast<ContractOp>(op); contract && contract.getTile())
      return BlocksAttr::ofTile(context, (*contract.getTile())[0], (*contract.getTile())[1]);
  if (llvm::any_of(body.ops, llvm::IsaPred<PartialReduceOp>))
    return BlocksAttr::ofRows(context, blocking.rowsPerBlock(shape.shape));
  return {};
}

/// The operands of a kernel, each with its Indexing.
using KernelOperands = llvm::SetVector<std::pair<Value, unsigned>>;

/// The external values that `ops`, the ops of a kernel, read.
KernelOperands operandsOf(ArrayRef<Operation *> ops) {
  const DenseSet<Operation *> inBody(ops.begin(), ops.end());
  KernelOperands operands;
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = operand.get(); !inBody.contains(value.getDefiningOp()))
        operands.insert({value, indexingOf(operand)});
  for (Operation *op : ops)
    if (isa<ScanOp>(op))
      for (Value capture : capturesOf(op))
        operands.insert({capture, atOwnIndices});
  return operands;
}

} // namespace

KernelOp buildKernel(OpBuilder &builder, const KernelBody &body, const KernelShape &shape, StringRef name,
                     const Blocking &blocking, SmallVectorImpl<Value> &inputs) {
  // A cloned producer of both the contraction and other ops is written twice, since a matmul's prologue and epilogue
  // are separate.
  SmallVector<Operation *> contractions, others;
  for (Operation *op : body.ops)
    (isa<ContractOp>(op) ? contractions : others).push_back(op);
  const DenseSet<Operation *> prologue = readBy(contractions, body);
  llvm::erase_if(others, [&](Operation *op) { return prologue.contains(op); });
  const DenseSet<Operation *> epilogue = readBy(others, body);
  SmallVector<Operation *> order = canonicalOrder(body);
  const KernelOperands operands = operandsOf(order);
  for (auto [value, indexing] : operands)
    inputs.push_back(value);

  SmallVector<Type> resultTypes = llvm::to_vector(ValueRange(body.results).getTypes());
  auto type = builder.getFunctionType(ValueRange(inputs).getTypes(), resultTypes);
  auto kernel = KernelOp::create(
      builder, builder.getFusedLoc(llvm::map_to_vector(order, [](Operation *op) { return op->getLoc(); })), shape.kind,
      name, type, specOf(builder.getContext(), body, shape, blocking));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&kernel.getBody(), {}, type.getInputs(),
                                     llvm::map_to_vector(inputs, [](Value input) { return input.getLoc(); }));
  IRMapping main, front;
  DenseMap<std::pair<Value, unsigned>, Value> otherwise; // block arguments of operands that are not atOwnIndices
  for (auto [operand, argument] : llvm::zip_equal(operands, block->getArguments())) {
    if (operand.second != atOwnIndices) {
      otherwise[operand] = argument;
      continue;
    }
    main.map(operand.first, argument);
    front.map(operand.first, argument);
  }
  for (Operation *op : order) {
    if (isa<ContractOp>(op)) {
      auto contract = cast<ContractOp>(builder.clone(*op, front));
      contract.removeTileAttr();
      main.map(op->getResult(0), contract.getResult());
      continue;
    }
    const auto clone = [&](IRMapping &values) {
      Operation *copy = builder.clone(*op, values);
      for (auto [from, to] : llvm::zip_equal(op->getOpOperands(), copy->getOpOperands()))
        if (Value argument = otherwise.lookup({from.get(), indexingOf(from)}))
          to.set(argument);
    };
    if (prologue.contains(op))
      clone(front);
    if (!prologue.contains(op) || epilogue.contains(op))
      clone(main);
  }
  SmallVector<Value> results;
  for (Value result : body.results)
    results.push_back(main.lookup(result));
  YieldOp::create(builder, kernel.getLoc(), results);
  kernel.setKind(kindOf(*block)); // with axes of extent 1, a simpler form may fit
  return kernel;
}

std::string siteOf(const KernelBody &body) {
  SmallVector<StringRef> paths;
  SmallVector<std::string> names;
  FileLineColLoc line;
  for (Operation *op : body.ops) {
    if (isAlwaysCloned(op) && !body.own.contains(op))
      continue;
    StringRef path = layerPathOf(op->getLoc());
    if (!path.empty() && !llvm::is_contained(paths, path))
      paths.push_back(path);
    if (!line)
      line = sourceLineOf(op->getLoc());
    std::string name = op->getName().stripDialect().str();
    if (names.empty() || names.back() != name)
      names.push_back(std::move(name));
  }
  std::string site = llvm::join(paths, ", ");
  if (line) {
    StringRef file = line.getFilename().getValue();
    site += (llvm::Twine(site.empty() ? "(" : " (") + file.substr(file.rfind('/') + 1) + ":" +
             llvm::Twine(line.getLine()) + ")")
                .str();
  }
  constexpr size_t maxNames = 12;
  if (names.size() > maxNames) {
    names.resize(maxNames);
    names.push_back("...");
  }
  return site + (site.empty() ? "" : ": ") + llvm::join(names, ", ");
}

namespace {

/// Writes the groups of a block, each after those on which it depends.
class LaunchWriter {
public:
  explicit LaunchWriter(FusionState &state) : state(state), written(state.graph.size()) {}
  void write();

private:
  void write(FusionGroupId id);
  LaunchOp writeLaunch(const FusionGroup &group);
  void explain();

  FusionState &state;
  std::vector<std::pair<FusionGroupId, KernelBody>> bodies; // if there is a log
  llvm::DenseMap<FusionGroupId, LaunchOp> launches;         // by id
  std::vector<bool> written;                                // by id
  std::vector<Operation *> placed;                          // launches and opaque ops, in their final order
};

LaunchOp LaunchWriter::writeLaunch(const FusionGroup &group) {
  const KernelBody body = state.cloned.bodyOf(group.ops);
  Operation *top = state.symbols.getOp(), *anchor = state.block.getParentOp();
  while (anchor->getParentOp() != top)
    anchor = anchor->getParentOp();
  OpBuilder builder(anchor);
  SmallVector<Value> inputs;
  const std::string name = (stringifyKernelKind(group.shape.kind) + "_0").str();
  KernelOp kernel = buildKernel(builder, body, group.shape, name, state.blocking, inputs);
  state.symbols.insert(kernel, Block::iterator(anchor));
  builder.setInsertionPoint(state.block.getTerminator());
  auto launch = LaunchOp::create(builder, kernel.getLoc(), ValueRange(body.results).getTypes(), kernel.getSymName(),
                                 inputs, siteOf(body));
  for (auto [result, output] : llvm::zip_equal(body.results, launch.getOutputs())) {
    Value old = result;
    old.replaceAllUsesWith(output);
  }
  return launch;
}

void LaunchWriter::write(FusionGroupId id) {
  const FusionGroup &group = state.graph.group(id);
  if (written[id] || group.ops.empty())
    return;
  written[id] = true;
  for (Operation *op : group.ops)
    for (Operation *producer : state.graph.producersOf(op))
      write(*state.graph.groupOf(producer));
  if (group.opaque) {
    placed.push_back(group.ops.front());
    return;
  }
  if (state.log)
    bodies.push_back({id, state.cloned.bodyOf(group.ops)});
  LaunchOp launch = writeLaunch(group);
  placed.push_back(launch);
  launches[id] = launch;
}

/// Attaches the lines of the log to the locations of the launches.
void LaunchWriter::explain() {
  state.log->finish(state.graph);
  for (const auto &[id, body] : bodies) {
    const auto siteOfGroup = [&](FusionGroupId other) { return launches.lookup(other).getSite().str(); };
    LaunchOp launch = launches.lookup(id);
    launch->setLoc(withFusion(launch.getLoc(), state.log->linesOf(id, body, siteOfGroup)));
  }
}

void LaunchWriter::write() {
  SmallVector<Operation *> loose;
  for (Operation &op : state.block.without_terminator())
    if (const auto id = state.graph.groupOf(&op); !id || !state.graph.group(*id).opaque)
      loose.push_back(&op);
  // Computes all dependencies before the first launch replaces uses, which would hide them.
  SmallVector<std::pair<int64_t, FusionGroupId>> order;
  for (FusionGroupId id = 0; id < state.graph.size(); ++id) {
    if (!state.graph.group(id).ops.empty())
      order.push_back({state.graph.group(id).last, id});
    for (Operation *op : state.graph.group(id).ops)
      (void)state.graph.producersOf(op);
  }
  llvm::sort(order);
  for (auto [last, id] : order)
    write(id);
  if (state.log)
    explain();
  for (Operation *op : placed) // at the end: each move invalidates the block's numbering of ops
    op->moveBefore(state.block.getTerminator());
  for (Operation *op : llvm::reverse(loose))
    if (op->use_empty())
      op->erase();
}

} // namespace

void buildKernels(FusionState &state) { LaunchWriter(state).write(); }

} // namespace halftone::compiler
