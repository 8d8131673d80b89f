// Builds kernels from clusters of ops, and the description of their origin.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernels.h"
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

/// The ways in which a kernel reads an operand. A value that is read in two ways is two operands.
enum Way : unsigned { atOwnIndices, lookedUp, apart }; // of attention and of loops: from here on, one way per operand

unsigned wayOf(OpOperand &operand) {
  const unsigned number = operand.getOperandNumber();
  if (isa<AttentionOp, AttentionGradOp, ScanOp>(operand.getOwner()))
    return apart + number;
  return number < lookedUpOperands(operand.getOwner()).size() ? lookedUp : atOwnIndices;
}

/// The ops of `body` in an order that depends on its results and operands alone, so that equal kernels have equal texts
/// wherever their ops were.
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

/// Operands of a kernel, each with its way.
using KernelOperands = llvm::SetVector<std::pair<Value, unsigned>>;

/// The external values that `ops`, the ops of a kernel, read.
KernelOperands operandsOf(ArrayRef<Operation *> ops) {
  const DenseSet<Operation *> inBody(ops.begin(), ops.end());
  KernelOperands operands;
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = operand.get(); !inBody.contains(value.getDefiningOp()))
        operands.insert({value, wayOf(operand)});
  for (Operation *op : ops)
    if (isa<ScanOp>(op))
      for (Value capture : capturesOf(op))
        operands.insert({capture, atOwnIndices});
  return operands;
}

} // namespace

KernelOp buildKernel(OpBuilder &builder, const KernelBody &body, const KernelShape &shape, StringRef name,
                     const Blocking &blocking, SmallVectorImpl<Value> &inputs) {
  // A cloned op that feeds both the contraction and other ops is emitted twice, since the prologue and the epilogue of
  // a matmul are separate.
  SmallVector<Operation *> contractions, others;
  for (Operation *op : body.ops)
    (isa<ContractOp>(op) ? contractions : others).push_back(op);
  DenseSet<Operation *> prologue = readBy(contractions, body), behind;
  llvm::erase_if(others, [&](Operation *op) { return prologue.contains(op); });
  behind = readBy(others, body);
  SmallVector<Operation *> order = canonicalOrder(body);
  const KernelOperands operands = operandsOf(order);
  for (auto [value, way] : operands)
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
  DenseMap<std::pair<Value, unsigned>, Value> otherwise; // operands that are not read at the kernel's own indices
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
        if (Value argument = otherwise.lookup({from.get(), wayOf(from)}))
          to.set(argument);
    };
    if (prologue.contains(op))
      clone(front);
    if (!prologue.contains(op) || behind.contains(op))
      clone(main);
  }
  SmallVector<Value> results;
  for (Value result : body.results)
    results.push_back(main.lookup(result));
  YieldOp::create(builder, kernel.getLoc(), results);
  kernel.setKind(kindOf(*block)); // with axes of extent 1 a simpler form may suffice
  return kernel;
}

std::string siteOf(const KernelBody &body) {
  SmallVector<StringRef> paths;
  SmallVector<std::string> names;
  FileLineColLoc line;
  for (Operation *op : body.ops) {
    if (isGlue(op) && !body.home.contains(op))
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
  constexpr size_t mostNames = 12;
  if (names.size() > mostNames) {
    names.resize(mostNames);
    names.push_back("...");
  }
  return site + (site.empty() ? "" : ": ") + llvm::join(names, ", ");
}

} // namespace halftone::compiler
