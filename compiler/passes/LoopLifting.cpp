// Computes ops of a scan's body for all steps at once, before the scan or after it.
// SPDX-License-Identifier: Apache-2.0
//
//   %h, %ys = scan (%h0) over (%xs) { ^bb0(%i, %c, %x):
//     %0 = contract %x, %k;  %1 = add %c, %0;  %2 = contract %1, %w;  yield %1, %2
//   }
// becomes
//   %p = contract %xs, %k
//   %h, %cs = scan (%h0) over (%p) { ^bb0(%i, %c, %0):
//     %1 = add %c, %0;  yield %1, %1
//   }
//   %ys = contract %cs, %w
#include "compiler/passes/LoopLifting.h"
#include "compiler/passes/LoopParts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

/// The size in bits of a value in each step.
int64_t sizeOfStep(Value value) {
  return tensorTypeOf(value).getNumElements() * tensorTypeOf(value).getElementTypeBitWidth();
}

/// A scan whose ops are lifted in one direction.
class LiftedScan {
public:
  explicit LiftedScan(ScanOp scan) : scan(scan), body(&scan.getBody().front()), parts(scan), builder(scan) {}

protected:
  bool isInvariant(Value value) const { return !scan->isAncestor(value.getParentRegion()->getParentOp()); }
  bool hasInvariantOperand(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return isInvariant(operand); });
  }
  bool mayLift(Operation &op) const;
  int64_t steps() { return static_cast<int64_t>(scan.getLength()); }
  Value indices();
  void lift(Operation &op);

  ScanOp scan;
  Block *body;
  LoopParts parts;
  OpBuilder builder; // where lifted ops are created
  llvm::DenseSet<Operation *> moved;
  llvm::DenseMap<Value, Value> stacks; // of values of the body

private:
  Value iota;
};

bool LiftedScan::mayLift(Operation &op) const {
  auto lifted = dyn_cast<LiftOpInterface>(op);
  if (!lifted || op.use_empty())
    return false;
  llvm::SmallBitVector isStacked(op.getNumOperands());
  for (OpOperand &operand : op.getOpOperands())
    isStacked[operand.getOperandNumber()] = !isInvariant(operand.get());
  return isStacked.any() && lifted.mayLift(isStacked);
}

/// The stack of the index.
Value LiftedScan::indices() {
  if (!iota)
    iota = IotaOp::create(builder, scan.getLoc(), stackType(scan.getIndex().getType(), steps()), 0);
  return iota;
}

/// Creates the op for all steps. The stacks of its operands must exist.
void LiftedScan::lift(Operation &op) {
  StepOperands operands{{}, llvm::SmallBitVector(op.getNumOperands()), steps()};
  for (OpOperand &operand : op.getOpOperands()) {
    Value value = operand.get();
    operands.isStacked[operand.getOperandNumber()] = !isInvariant(value);
    if (!isInvariant(value))
      value = value == scan.getIndex() ? indices() : stacks.at(value);
    operands.values.push_back(value);
  }
  for (auto [result, stack] : llvm::zip_equal(op.getResults(), cast<LiftOpInterface>(op).lift(builder, operands)))
    stacks[result] = stack;
}

/// Lifts ops that depend on no carry.
class FrontOfScan : LiftedScan {
public:
  using LiftedScan::LiftedScan;
  ScanOp run();

private:
  bool isEarly(Value value);
  void findEarly();
  bool isProfitable(Operation *op);
  void move(Operation *op);
  void follow(Operation *op);
  void replaceYs();

  llvm::DenseSet<Operation *> early;
  llvm::DenseSet<Operation *> readByLoops; // these produce the stacks of scans in the body
  llvm::SetVector<Operation *> stored;     // the body reads stacks of these
};

bool FrontOfScan::isEarly(Value value) {
  if (Operation *op = value.getDefiningOp())
    return isInvariant(value) || early.contains(op);
  return isInvariant(value) || value == scan.getIndex() || llvm::is_contained(scan.getSlices(), value);
}

void FrontOfScan::findEarly() {
  for (Operation &op : body->without_terminator())
    if (mayLift(op) && llvm::all_of(op.getOperands(), [&](Value operand) { return isEarly(operand); }))
      early.insert(&op);
  const auto isStackOfLoop = [&](OpOperand &use) {
    auto loop = dyn_cast<ScanOp>(use.getOwner());
    return readByLoops.contains(use.getOwner()) || (loop && llvm::is_contained(loop.getXs(), use.get()));
  };
  for (Operation &op : llvm::reverse(body->without_terminator()))
    if (early.contains(&op) && llvm::any_of(op.getUses(), isStackOfLoop))
      readByLoops.insert(&op);
}

/// Returns true if an early op that leaves loops should be lifted: it needs no larger stacks, or has a loop-invariant
/// operand. An op that a loop in the body reads stays, since it is already computed for all steps of that loop.
bool FrontOfScan::isProfitable(Operation *op) {
  int64_t read = 0, given = 0;
  for (Value operand : op->getOperands())
    read += sizeOfStep(operand);
  for (Value result : op->getResults())
    given += sizeOfStep(result);
  return !readByLoops.contains(op) && (hasInvariantOperand(op) || given <= read);
}

/// Lifts an op and its producers.
void FrontOfScan::move(Operation *op) {
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!next || !early.contains(next) || !moved.insert(next).second)
      continue;
    for (Value operand : next->getOperands())
      open.push_back(operand.getDefiningOp());
  }
}

/// Lifts an op that reads stored values, if what the body then reads instead is no larger.
void FrontOfScan::follow(Operation *op) {
  int64_t saved = 0, given = 0;
  for (Value operand : llvm::SmallDenseSet<Value>(op->operand_begin(), op->operand_end())) {
    const auto isHidden = [&](Operation *user) { return user == op || moved.contains(user); };
    if (stored.contains(operand.getDefiningOp()) && llvm::all_of(operand.getUsers(), isHidden))
      saved += sizeOfStep(operand);
  }
  for (Value result : op->getResults())
    given += sizeOfStep(result);
  if (saved == 0 || given > saved)
    return;
  move(op);
  stored.insert(op);
}

/// Replaces stacks of the scan that are now computed before it.
void FrontOfScan::replaceYs() {
  for (LoopParts::Y &y : parts.ys) {
    const Value slice = parts.slice(y);
    if (y.stack.use_empty() || isInvariant(slice) || !(slice == scan.getIndex() || stacks.contains(slice)))
      continue;
    y.stack.replaceAllUsesWith(roundedInLoop(builder, slice == scan.getIndex() ? indices() : stacks.at(slice)));
    y.isDropped = true;
  }
}

ScanOp FrontOfScan::run() {
  findEarly();
  for (auto [slice, stack] : llvm::zip_equal(scan.getSlices(), scan.getXs()))
    stacks[slice] = stack;
  llvm::DenseSet<Operation *> roots;
  bool givesYs = false;
  for (const LoopParts::Y &y : parts.ys) {
    const Value slice = parts.slice(y);
    if (y.stack.use_empty() || isInvariant(slice) || !isEarly(slice))
      continue;
    givesYs = true;
    roots.insert(slice.getDefiningOp());
  }
  for (Operation &op : body->without_terminator()) {
    if (auto draw = dyn_cast<RandomBitsOp>(op))
      if (Operation *key = draw.getKey().getDefiningOp(); key && early.contains(key))
        roots.insert(key);
    if (early.contains(&op) && cast<LiftOpInterface>(op).leavesLoops() && isProfitable(&op))
      roots.insert(&op);
  }
  for (Operation &op : body->without_terminator())
    if (roots.contains(&op)) {
      move(&op);
      stored.insert(&op);
    } else if (early.contains(&op) && !moved.contains(&op)) {
      follow(&op);
    }
  if (moved.empty() && !givesYs)
    return {};
  for (Operation &op : body->without_terminator())
    if (moved.contains(&op))
      lift(op);
  replaceYs();
  for (Operation *op : stored)
    for (Value result : op->getResults())
      if (!result.use_empty())
        result.replaceAllUsesWith(parts.addSlice(stacks.at(result)));
  IRRewriter rewriter(scan.getContext());
  return cast<ScanOp>(parts.rebuild(rewriter));
}

/// Lifts ops on which no carry depends.
class AfterScan : LiftedScan {
public:
  using LiftedScan::LiftedScan;
  ScanOp run();

private:
  void findLate();
  bool isStacked(Value value);
  int64_t newStacks(Operation *op);
  bool isProfitable(Operation *op);
  void move(Operation *op);
  void moveProducers();
  void replaceYs();

  llvm::DenseSet<Operation *> late;
  llvm::MapVector<Value, LoopParts::Y *> needed; // values of the body that lifted ops read, and their stacks
  llvm::DenseMap<Value, LoopParts::Y *> given;   // the existing stacks of the scan
};

void AfterScan::findLate() {
  const unsigned carries = scan.getInits().size();
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    const auto waits = [&](OpOperand &use) {
      return use.getOwner() == body->getTerminator() ? use.getOperandNumber() < carries
                                                     : !late.contains(use.getOwner());
    };
    if (mayLift(op) && llvm::none_of(op.getUses(), waits))
      late.insert(&op);
  }
}

bool AfterScan::isStacked(Value value) {
  return isInvariant(value) || value == scan.getIndex() || stacks.contains(value) || given.contains(value) ||
         needed.contains(value) || moved.contains(value.getDefiningOp());
}

int64_t AfterScan::newStacks(Operation *op) {
  int64_t bits = 0;
  for (Value operand : llvm::SmallDenseSet<Value>(op->operand_begin(), op->operand_end()))
    bits += isStacked(operand) ? 0 : sizeOfStep(operand);
  return bits;
}

/// Returns true if a late op that leaves loops should be lifted. Stacks of a loop in the body are not stacked again,
/// since memory of a fixed size would then grow with the number of steps.
bool AfterScan::isProfitable(Operation *op) {
  const auto isStackable = [&](Value operand) { return !isOfInnerLoop(operand, scan); };
  return newStacks(op) == 0 || (isa<ContractOp, ConvolutionOp>(op) && hasInvariantOperand(op) &&
                                llvm::all_of(op->getOperands(), isStackable));
}

void AfterScan::move(Operation *op) {
  moved.insert(op);
  for (Value operand : op->getOperands())
    if (!isStacked(operand) || given.contains(operand))
      needed.insert({operand, given.lookup(operand)});
}

/// Lifts producers of lifted ops too, if that takes no larger stacks.
void AfterScan::moveProducers() {
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    const auto isMoved = [&](Operation *user) { return moved.contains(user); };
    int64_t saved = 0;
    for (Value result : op.getResults())
      saved += needed.contains(result) ? sizeOfStep(result) : 0;
    if (late.contains(&op) && !isMoved(&op) && llvm::all_of(op.getUsers(), isMoved) && newStacks(&op) <= saved)
      move(&op);
  }
  needed.remove_if([&](const auto &entry) { return moved.contains(entry.first.getDefiningOp()); });
}

void AfterScan::replaceYs() {
  for (LoopParts::Y &y : parts.ys)
    if (Operation *op = parts.slice(y).getDefiningOp(); moved.contains(op) && y.stack)
      y.stack.replaceAllUsesWith(roundedInLoop(builder, stacks.at(parts.slice(y))));
}

ScanOp AfterScan::run() {
  findLate();
  for (auto [slice, stack] : llvm::zip_equal(scan.getSlices(), scan.getXs()))
    stacks[slice] = stack;
  for (LoopParts::Y &y : parts.ys)
    if (!y.stack.use_empty())
      given.insert({parts.slice(y), &y});
  for (Operation &op : body->without_terminator()) {
    if (!late.contains(&op))
      continue;
    const auto isMoved = [&](Value operand) { return moved.contains(operand.getDefiningOp()); };
    if (llvm::any_of(op.getOperands(), isMoved) || (cast<LiftOpInterface>(op).leavesLoops() && isProfitable(&op)))
      move(&op);
  }
  if (moved.empty())
    return {};
  moveProducers();
  for (auto &[value, y] : needed)
    if (!y)
      y = &parts.addY(value);
  IRRewriter rewriter(scan.getContext());
  scan = cast<ScanOp>(parts.rebuild(rewriter));
  builder.setInsertionPointAfter(scan);
  for (auto [value, y] : needed)
    stacks[value] = y->stack;
  for (Operation &op : body->without_terminator())
    if (moved.contains(&op))
      lift(op);
  replaceYs();
  return scan;
}

} // namespace

ScanOp liftInFront(ScanOp scan) { return FrontOfScan(scan).run(); }
ScanOp liftAfter(ScanOp scan) { return AfterScan(scan).run(); }

} // namespace halftone::compiler
