// Follows the sums at looked-up rows through elementwise ops to the new values of tables.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/UnreadRows.h"
#include "dialect/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

bool isInLoop(Operation *op) { return op->getParentOfType<ScanOp>() || op->getParentOfType<WhileOp>(); }

/// Returns true if a scatter_add names so few rows that computing them alone is faster than computing all rows.
bool isLarge(ScatterAddOp sum) {
  constexpr int64_t minElements = 1 << 20, rowsPerIndex = 8;
  const auto type = tensorTypeOf(sum.getY()), indices = tensorTypeOf(sum.getIndices());
  const int64_t count = indices.getNumElements();
  return sum.getAxis() == 0 && sum.getBatch() == 0 &&
         (type.getElementType().isF32() || type.getElementType().isF64()) &&
         indices.getElementType().isSignlessInteger() && indices.getElementTypeBitWidth() >= 32 && count > 0 &&
         type.getDimSize(0) / rowsPerIndex >= count && type.getDimSize(0) < std::numeric_limits<int32_t>::max() &&
         type.getNumElements() >= minElements && !isInLoop(sum);
}

void addTo(SmallVectorImpl<Value> &zeros, ArrayRef<Value> more) {
  for (Value each : more)
    if (!llvm::is_contained(zeros, each))
      zeros.push_back(each);
}

} // namespace

bool isSameInAllRows(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return !llvm::is_contained(broadcast.getAxes(), 0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

UnreadRows::UnreadRows(ScatterAddOp first, const OpOrder &order, bool fixesOrder)
    : order(order), fixesOrder(fixesOrder) {
  if (!isLarge(first))
    return;
  join(first);
  while (fits && !open.empty())
    read(open.extract(open.begin()).mapped());
  collect();
}

bool UnreadRows::isUniform(Value value) const {
  const auto found = known.find(value);
  return found != known.end() && found->second.kind == Kind::uniform;
}

/// Adds a scatter_add that precedes all ops on the other sums. Returns false if it does not fit.
bool UnreadRows::join(ScatterAddOp sum) {
  const auto positionOf = [&](Operation *op) { return order.lookup(op); };
  if (!sums.empty() && (!isLarge(sum) || sum->getBlock() != sums.front()->getBlock() || !order.contains(sum) ||
                        firstWork < positionOf(sum)))
    return false;
  sums.insert(llvm::lower_bound(sums, sum, [&](auto a, auto b) { return positionOf(a) < positionOf(b); }), sum);
  known[sum.getY()] = {.kind = Kind::uniform, .isZeroOrNaN = true};
  follow(sum.getY());
  return true;
}

/// Returns true if one of several equal rows of `value` suffices.
bool UnreadRows::mayMeasure(ReduceAllOp op, Value value) const {
  return op.getKind() != ReduceAllKind::sum_of_squares || (!fixesOrder && known.at(value).isZeroOrNaN);
}

/// Visits the users of a value.
void UnreadRows::follow(Value value) {
  const bool isUniform = this->isUniform(value), isTable = known.at(value).kind == Kind::same;
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    auto measure = dyn_cast<ReduceAllOp>(reader);
    if (isa<ElementwiseOpInterface>(reader) && order.contains(reader) && !isInLoop(reader))
      open[order.at(reader)] = reader;
    else if (isUniform && measure && mayMeasure(measure, value))
      measured.push_back(&use);
    else
      fits &= isTable;
  }
}

/// Returns true if the value can be the table of `op` and does not depend on the new value of another table.
bool UnreadRows::isTableOf(Value value, Operation *op) const {
  if (isSameInAllRows(value) || !isa<Float32Type, Float64Type>(elementTypeOf(value)))
    return false;
  Operation *producer = value.getDefiningOp();
  const auto first = firstSame.find(op->getBlock());
  return !producer || first == firstSame.end() || (order.contains(producer) && order.at(producer) < first->second);
}

UnreadRows::Facts UnreadRows::factsOf(Value operand, Operation *op) const {
  const auto found = known.find(operand);
  if (found != known.end())
    return found->second;
  return isTableOf(operand, op) ? Facts{.kind = Kind::same, .table = operand} : Facts();
}

UnreadRows::Facts UnreadRows::uniformFactsOf(Operation *op) const {
  const auto isZero = [&](Value operand) {
    const auto found = known.find(operand);
    return found != known.end() && found->second.isZeroOrNaN;
  };
  const bool isZeroOrNaN = isa<MulOp>(op)                 ? llvm::any_of(op->getOperands(), isZero)
                           : isa<DivOp>(op)               ? isZero(op->getOperand(0))
                           : isa<AddOp, NegOp, AbsOp>(op) ? llvm::all_of(op->getOperands(), isZero)
                                                          : false;
  return {.kind = Kind::uniform, .isZeroOrNaN = isZeroOrNaN};
}

UnreadRows::Facts UnreadRows::factsOf(Operation *op) const {
  if (llvm::all_of(op->getOperands(), [&](Value each) { return isUniform(each) || isSameInAllRows(each); }))
    return uniformFactsOf(op);
  if (isa<AddOp>(op))
    return sumOf(op);
  if (isa<DivOp>(op))
    return quotientOf(op);
  Facts facts = factsOf(op->getOperand(0), op);
  if (isa<SqrtOp>(op) && facts.kind == Kind::positive)
    return facts;
  if (!isa<SubOp>(op) || facts.kind != Kind::same || !addZeros(facts, op->getOperand(1)))
    return {};
  return facts;
}

/// Adds the conditions under which `value` is +0 in the rows without sums. Returns false if there are none.
bool UnreadRows::addZeros(Facts &facts, Value value) const {
  const auto found = known.find(value);
  if (found == known.end())
    return false;
  const Kind kind = found->second.kind;
  addTo(facts.zeros, kind == Kind::uniform ? ArrayRef(value) : ArrayRef(found->second.zeros));
  return kind == Kind::uniform || kind == Kind::zero;
}

/// A sum of squares to which a square or a positive value is added.
UnreadRows::Facts UnreadRows::sumOf(Operation *op) const {
  Facts facts = factsOf(op->getOperand(0), op);
  const Value added = op->getOperand(1);
  auto square = added.getDefiningOp<MulOp>();
  auto number = added.getDefiningOp<ConstantOp>();
  if (facts.kind != Kind::same || !isSumOfSquares(facts.table))
    return {};
  if (square && square.getLhs() == square.getRhs() && addZeros(facts, added))
    return facts;
  auto splat = number ? dyn_cast<SplatElementsAttr>(number.getValue()) : SplatElementsAttr();
  if (!splat || splat.getSplatValue<APFloat>().isNegative() || splat.getSplatValue<APFloat>().isZero() ||
      splat.getSplatValue<APFloat>().isNaN())
    return {};
  facts.kind = Kind::positive;
  return facts;
}

/// +0 divided by a positive value.
UnreadRows::Facts UnreadRows::quotientOf(Operation *op) const {
  Facts facts = factsOf(op->getOperand(1), op);
  if (facts.kind != Kind::positive || !addZeros(facts, op->getOperand(0)))
    return {};
  facts.kind = Kind::zero;
  return facts;
}

/// Returns true if the value is, on entry, an optimizer's accumulator to which each step adds squares.
bool UnreadRows::isSumOfSquares(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  auto main = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto symbol =
      main ? main.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), variableAttr) : FlatSymbolRefAttr();
  auto variable = symbol ? SymbolTable::lookupNearestSymbolFrom<VariableOp>(main, symbol) : VariableOp();
  return variable && variable.getRole() == VariableRole::slot;
}

void UnreadRows::read(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto sum = operand.getDefiningOp<ScatterAddOp>(); sum && !known.contains(operand))
      join(sum);
  open.erase(order.at(op)); // in case it also reads a sum that just joined
  const Facts facts = factsOf(op);
  if (facts.kind == Kind::other) {
    for (OpOperand &operand : op->getOpOperands()) {
      const auto found = known.find(operand.get());
      if (found != known.end() && found->second.kind == Kind::uniform)
        dense.push_back(&operand);
      else
        fits &= found == known.end() || found->second.kind == Kind::same;
    }
    return;
  }
  const Value result = op->getResult(0);
  if (facts.kind == Kind::same)
    firstSame.try_emplace(op->getBlock(), order.at(op));
  known[result] = facts;
  ops.push_back(op);
  firstWork = std::min(firstWork, order.at(op));
  follow(result);
}

/// Finds the new values that other ops read, and the ops that compute them.
void UnreadRows::collect() {
  llvm::sort(ops, [&](Operation *a, Operation *b) { return order.at(a) < order.at(b); });
  const DenseSet<Operation *> inside(ops.begin(), ops.end());
  llvm::MapVector<Block *, Update> byBlock;
  for (Operation *op : ops) {
    const Value result = op->getResult(0);
    const Facts &facts = known.at(result);
    if (facts.kind != Kind::same ||
        llvm::all_of(result.getUsers(), [&](Operation *user) { return inside.contains(user); }))
      continue;
    Update &update = byBlock[op->getBlock()];
    update.results.push_back({result, facts.table});
    update.zeros.insert_range(facts.zeros);
  }
  for (auto &[block, update] : byBlock) {
    DenseSet<Value> needed;
    for (const auto &[result, table] : update.results)
      needed.insert(result);
    for (Operation *op : llvm::reverse(ops))
      if (needed.contains(op->getResult(0)) && !isUniform(op->getResult(0))) {
        update.ops.push_back(op);
        needed.insert_range(op->getOperands());
      }
    std::reverse(update.ops.begin(), update.ops.end());
    updates.push_back(std::move(update));
  }
}

} // namespace halftone::compiler
