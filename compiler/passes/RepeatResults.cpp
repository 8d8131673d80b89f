// repeat-results: makes a kernel store a small result once for each value that keeps it, so that no step copies it.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = launch @loop_0(%w);  %2 = launch @loop_1(%1, %w);  return %1, %2, %1   (%1 is a fetch and the new value of %w)
// becomes
//   %1:3 = launch @loop_0(%w);  %2 = launch @loop_1(%1#0, %1#2);  return %1#1, %2, %1#0
// where @loop_0 yields its result, the same result, and its operand, the old value of %w.
#include "compiler/forms/Forms.h"
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <utility>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_REPEATRESULTSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Copying at most this many elements costs as much as the launch alone.
constexpr int64_t maxRepeated = 4096;

/// An additional result of a launch: one of its results again, or an old value that it reads.
struct Repeated {
  std::optional<unsigned> result; // index of the result; if absent, `old` is repeated
  Value old = {};
  SmallVector<OpOperand *> readers = {};
};

Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

class RepeatResults : public impl::RepeatResultsPassBase<RepeatResults> {
  void runOnModule() override;
  /// Returns the launch of @main that computes `value`, if its kernel may yield the value several times.
  LaunchOp producerOf(Value value);
  void findRepeatedResults();
  void findOldValues();
  void findOldValue(Value old, OpResult fresh);
  KernelOp ownKernel(LaunchOp launch);
  void apply(LaunchOp launch, ArrayRef<Repeated> repeated);

  func::FuncOp main;
  std::optional<SymbolTable> symbols;
  llvm::MapVector<Operation *, SmallVector<Repeated>> additions; // by launch
  llvm::StringMap<int64_t> launches;                             // by kernel
};

LaunchOp RepeatResults::producerOf(Value value) {
  auto launch = value.getDefiningOp<LaunchOp>();
  if (!launch || launch->getBlock() != &main.getBody().front())
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  auto kernel = symbols->lookup<KernelOp>(launch.getKernel());
  const bool isSmall = type.getNumElements() <= maxRepeated && !type.getEncoding();
  const bool allowsManyResults = llvm::is_contained(
      {KernelKind::loop, KernelKind::row, KernelKind::finish, KernelKind::reduction_loop}, kernel.getKind());
  return isSmall && allowsManyResults ? launch : LaunchOp();
}

/// Among the results of @main, gives every occurrence of a value but one its own result of the launch. A variable or
/// shadow keeps the original.
void RepeatResults::findRepeatedResults() {
  DenseSet<Value> taken;
  for (OpOperand &use : llvm::reverse(main.getBody().front().getTerminator()->getOpOperands())) {
    const Value value = throughReshapes(use.get());
    LaunchOp launch = producerOf(value);
    if (launch && !taken.insert(value).second)
      additions[launch].push_back({cast<OpResult>(value).getResultNumber(), {}, {&use}});
  }
}

/// Makes the launch that computes `fresh` also yield `old` to all later readers, if `fresh` can then be written over
/// `old`.
void RepeatResults::findOldValue(Value old, OpResult fresh) {
  LaunchOp launch = producerOf(fresh);
  Block &body = main.getBody().front();
  auto kernel = launch ? symbols->lookup<KernelOp>(launch.getKernel()) : KernelOp();
  if (!launch || old.getType() != fresh.getType())
    return;
  const bool isScalar = cast<RankedTensorType>(old.getType()).getRank() == 0;
  const bool hasSides = !kernel.getBody().front().getOps<PartialReduceOp>().empty();
  if (kernel.getKind() != KernelKind::loop && (!isScalar || hasSides))
    return;
  for (OpOperand &operand : launch->getOpOperands())
    if (operand.get() == old && !formOf(kernel.getKind()).readsInPlace(kernel, operand.getOperandNumber()))
      return;
  Repeated repeated{std::nullopt, old, {}};
  for (OpOperand &use : old.getUses())
    if (Operation *reader = body.findAncestorOpInBlock(*use.getOwner());
        reader != launch && launch->isBeforeInBlock(reader))
      repeated.readers.push_back(&use);
  if (!repeated.readers.empty())
    additions[launch].push_back(std::move(repeated));
}

void RepeatResults::findOldValues() {
  DenseMap<Attribute, Value> old;
  for (BlockArgument argument : main.getArguments())
    if (Attribute symbol = main.getArgAttr(argument.getArgNumber(), variableAttr))
      old[symbol] = argument;
  for (OpOperand &use : main.getBody().front().getTerminator()->getOpOperands())
    if (Attribute symbol = main.getResultAttr(use.getOperandNumber(), variableAttr))
      if (auto fresh = dyn_cast<OpResult>(use.get()); fresh && old.contains(symbol))
        findOldValue(old.lookup(symbol), fresh);
}

/// Returns the kernel of the launch, cloned if other launches share it.
KernelOp RepeatResults::ownKernel(LaunchOp launch) {
  auto kernel = symbols->lookup<KernelOp>(launch.getKernel());
  int64_t &users = launches[launch.getKernel()];
  if (users == 1)
    return kernel;
  --users;
  KernelOp copy = kernel.clone();
  symbols->insert(copy, std::next(kernel->getIterator()));
  launches[copy.getSymName()] = 1;
  return copy;
}

void RepeatResults::apply(LaunchOp launch, ArrayRef<Repeated> repeated) {
  KernelOp kernel = ownKernel(launch);
  Block &body = kernel.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<Value> operands(launch.getOperands());
  for (const Repeated &each : repeated) {
    if (each.result) {
      yield->insertOperands(yield->getNumOperands(), yield->getOperand(*each.result));
      continue;
    }
    const auto known = llvm::find(operands, each.old);
    const auto number = static_cast<unsigned>(known - operands.begin());
    if (known == operands.end()) {
      operands.push_back(each.old);
      body.addArgument(each.old.getType(), each.old.getLoc());
    }
    yield->insertOperands(yield->getNumOperands(), body.getArgument(number));
  }
  kernel.setFunctionType(FunctionType::get(&getContext(), body.getArgumentTypes(), yield->getOperandTypes()));
  OpBuilder builder(launch);
  auto wider = LaunchOp::create(builder, launch.getLoc(), yield->getOperandTypes(), kernel.getSymName(), operands,
                                launch.getSite());
  wider->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
  const unsigned before = launch.getNumResults();
  for (auto [number, each] : llvm::enumerate(repeated))
    for (OpOperand *reader : each.readers) {
      Value value = wider.getResult(before + static_cast<unsigned>(number));
      Operation *between = reader->get().getDefiningOp<ReshapeOp>();
      if (each.result && between) {
        builder.setInsertionPoint(reader->getOwner());
        value = ReshapeOp::create(builder, launch.getLoc(), reader->get().getType(), value);
      }
      reader->set(value);
      while (isa_and_nonnull<ReshapeOp>(between) && between->use_empty())
        std::exchange(between, between->getOperand(0).getDefiningOp())->erase();
    }
  launch->replaceAllUsesWith(wider->getResults().take_front(before));
  launch->erase();
}

void RepeatResults::runOnModule() {
  main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    getOperation().emitError("expected a function @main with a body");
    return signalPassFailure();
  }
  symbols.emplace(getOperation());
  additions.clear();
  launches.clear();
  main.walk([&](LaunchOp launch) { ++launches[launch.getKernel()]; });
  findRepeatedResults();
  findOldValues();
  SmallVector<Operation *> order; // program order: a launch is replaced before those that read its results
  for (Operation &op : main.getBody().front())
    if (additions.contains(&op))
      order.push_back(&op);
  for (Operation *launch : order)
    apply(cast<LaunchOp>(launch), additions[launch]);
}

} // namespace
} // namespace halftone::compiler
