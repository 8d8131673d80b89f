// update-rows: makes optimizer steps touch only the rows of large tables that a batch has read.
// SPDX-License-Identifier: Apache-2.0
//
//   %g = scatter_add %ids, %u : (tensor<3xi32>, tensor<3x64xf32>) -> tensor<1000000x64xf32>
//   %step = mul %g, %rate;  %new = sub %table, %step
// becomes
//   %rows, %sums of %ids, %u: 4 rows, the last of which no index names (NamedRows.h);  %s = mul %sums, %rate4
//   %keeps = the last row of %s is +0, so that rows without a gradient stay as they are
//   %new = when %keeps { yield scatter set %table, %rows, (sub (gather %table, %rows), %s) }
//          else { yield sub %table, (gather %s, (index of each row)) }
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/NamedRows.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/UnreadRows.h"
#include "dialect/ops/Expression.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_UPDATEROWSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Replaces the results of scatter_adds, and the ops on them, by their named rows.
class RowRewriter {
public:
  explicit RowRewriter(UnreadRows &found)
      : found(found), inside(found.ops.begin(), found.ops.end()), start(afterSums()), rows(start, found.sums) {
    for (auto [sum, compact] : llvm::zip_equal(found.sums, rows.sums))
      compacts[sum.getY()] = compact;
  }
  /// Adds the blocks in which ops may precede their operands to `changed`, and removes erased ops from `order`, since
  /// new ops may reuse their addresses.
  void run(llvm::SetVector<Block *> &changed, OpOrder &order);

private:
  OpBuilder afterSums() const {
    OpBuilder builder(found.sums.back());
    builder.setInsertionPointAfter(found.sums.back());
    return builder;
  }
  RankedTensorType compactType(Value value) const {
    SmallVector<int64_t> shape(shapeOf(value));
    shape.front() = rows.count;
    return tensorTypeOf(value).clone(shape);
  }
  Value compactOf(Value value);
  Value compactUniform(OpBuilder &builder, Value value);
  Value cloned(OpBuilder &builder, Operation *op, ValueRange operands, Type type);
  Value keeps(OpBuilder &builder, Location loc, ArrayRef<Value> zeros);
  void updateNamed(OpBuilder &builder, const UnreadRows::Update &update);
  void updateAll(OpBuilder &builder, const UnreadRows::Update &update);
  void replace(const UnreadRows::Update &update);

  UnreadRows &found;
  const DenseSet<Operation *> inside;
  OpBuilder start;
  NamedRows rows;
  DenseMap<Value, Value> compacts; // of uniform values
};

/// A value that is equal in all rows, with as many rows as NamedRows has.
Value RowRewriter::compactUniform(OpBuilder &builder, Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return ConstantOp::create(
        builder, value.getLoc(),
        DenseElementsAttr::get(compactType(value),
                               cast<DenseElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return BroadcastOp::create(builder, value.getLoc(), compactType(value), broadcast.getX(), broadcast.getAxes());
}

Value RowRewriter::cloned(OpBuilder &builder, Operation *op, ValueRange operands, Type type) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// A uniform value at the named rows.
Value RowRewriter::compactOf(Value value) {
  if (Value known = compacts.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(found.isUniform(operand) ? compactOf(operand) : compactUniform(builder, operand));
  return compacts[value] = cloned(builder, op, operands, compactType(value));
}

/// Emits the condition that each of `zeros` is +0 in the last row.
Value RowRewriter::keeps(OpBuilder &builder, Location loc, ArrayRef<Value> zeros) {
  Expression e(builder, loc);
  Value all;
  const auto require = [&](Value each) { all = all ? AndOp::create(builder, loc, all, each).getResult() : each; };
  for (Value zero : zeros) {
    const Value compact = compactOf(zero);
    SmallVector<int64_t> shape(shapeOf(compact)), first(shape.size(), 0);
    shape.front() = 1;
    first.front() = rows.count - 1;
    const auto type = tensorTypeOf(compact).clone(shape);
    const Value last = SliceOp::create(builder, loc, type, compact, first);
    const Value flat = ReshapeOp::create(builder, loc, type.clone({type.getNumElements()}), last);
    const Value largest = ReduceOp::create(builder, loc, type.clone(ArrayRef<int64_t>()), ReduceKind::max,
                                           AbsOp::create(builder, loc, flat), ArrayRef<int64_t>{0});
    require(e.compare(ComparePredicate::eq, largest, e.splat(largest.getType(), 0)));
    const Value inverse = e.div(e.splat(flat.getType(), 1), flat); // -inf for -0
    const Value least =
        ReduceOp::create(builder, loc, largest.getType(), ReduceKind::min, inverse, ArrayRef<int64_t>{0});
    require(e.compare(ComparePredicate::gt, least, e.splat(largest.getType(), 0)));
  }
  return all;
}

/// Yields the tables with new values in the named rows only.
void RowRewriter::updateNamed(OpBuilder &builder, const UnreadRows::Update &update) {
  DenseMap<Value, Value> own;
  const auto at = [&](Value value) -> Value {
    if (found.isUniform(value))
      return compactOf(value);
    if (isSameInAllRows(value))
      return compactUniform(builder, value);
    Value &known = own[value];
    if (!known)
      known = GatherOp::create(builder, value.getLoc(), compactType(value), value, rows.rows, 0);
    return known;
  };
  for (Operation *op : update.ops) {
    const SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), at);
    const Value created = cloned(builder, op, operands, compactType(op->getResult(0)));
    own[op->getResult(0)] = created;
  }
  SmallVector<Value> tables;
  for (const auto &[result, table] : update.results)
    tables.push_back(ScatterOp::create(builder, result.getLoc(), result.getType(), ScatterKind::set, table, rows.rows,
                                       own.at(result), 0));
  YieldOp::create(builder, update.loc(), tables);
}

/// Yields new values of all rows.
void RowRewriter::updateAll(OpBuilder &builder, const UnreadRows::Update &update) {
  const Value positions = rows.positions(builder, update.loc());
  IRMapping own;
  for (Operation *op : update.ops) {
    for (Value operand : op->getOperands())
      if (found.isUniform(operand) && !own.contains(operand))
        own.map(operand,
                GatherOp::create(builder, operand.getLoc(), operand.getType(), compactOf(operand), positions, 0)
                    .getResult());
    builder.clone(*op, own);
  }
  SmallVector<Value> tables;
  for (const auto &[result, table] : update.results)
    tables.push_back(own.lookup(result));
  YieldOp::create(builder, update.loc(), tables);
}

void RowRewriter::replace(const UnreadRows::Update &update) {
  Operation *last = update.results.back().first.getDefiningOp();
  OpBuilder builder(last);
  const SmallVector<Type> types = llvm::map_to_vector(update.results, [](auto &each) { return each.first.getType(); });
  auto when =
      WhenOp::create(builder, last->getLoc(), types, keeps(builder, last->getLoc(), update.zeros.getArrayRef()));
  OpBuilder named = OpBuilder::atBlockBegin(&when.getThenRegion().emplaceBlock()),
            all = OpBuilder::atBlockBegin(&when.getElseRegion().emplaceBlock());
  updateNamed(named, update);
  updateAll(all, update);
  for (auto [each, created] : llvm::zip_equal(update.results, when.getOutputs()))
    Value(each.first).replaceUsesWithIf(created, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
}

void RowRewriter::run(llvm::SetVector<Block *> &changed, OpOrder &order) {
  for (const UnreadRows::Update &update : found.updates)
    replace(update);
  for (OpOperand *measured : found.measured)
    measured->set(compactOf(measured->get()));
  if (!found.dense.empty()) {
    const Value positions = rows.positions(start, found.sums.back().getLoc());
    for (OpOperand *operand : found.dense) {
      OpBuilder builder(operand->getOwner());
      operand->set(GatherOp::create(builder, operand->getOwner()->getLoc(), operand->get().getType(),
                                    compactOf(operand->get()), positions, 0));
    }
  }
  for (const UnreadRows::Update &update : found.updates)
    changed.insert(update.ops.back()->getBlock());
  const auto erase = [&](Operation *op) {
    order.erase(op);
    op->erase();
  };
  llvm::SetVector<Operation *> mayBeDead; // operands that are equal in all rows, and the sums
  for (Operation *op : llvm::reverse(found.ops)) {
    for (Value operand : op->getOperands())
      if (isSameInAllRows(operand))
        mayBeDead.insert(operand.getDefiningOp());
    erase(op);
  }
  mayBeDead.insert_range(found.sums);
  for (Operation *op : mayBeDead)
    if (isOpTriviallyDead(op))
      erase(op);
}

class UpdateRows : public impl::UpdateRowsPassBase<UpdateRows> {
public:
  using UpdateRowsPassBase::UpdateRowsPassBase;

private:
  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), "", strict);
    if (failed(compiled))
      return signalPassFailure();
    OpOrder order;
    SmallVector<ScatterAddOp> sums;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      order[op] = static_cast<int64_t>(order.size());
      if (auto sum = dyn_cast<ScatterAddOp>(op))
        sums.push_back(sum);
    });
    DenseSet<Operation *> seen;
    llvm::SetVector<Block *> changed;
    for (ScatterAddOp sum : sums) {
      if (seen.contains(sum))
        continue;
      UnreadRows found(sum, order, compiled->numerics.fixesOrder());
      seen.insert(found.sums.begin(), found.sums.end());
      if (found.fit())
        RowRewriter(found).run(changed, order);
    }
    for (Block *block : changed)
      sortTopologically(block); // users of one new value may have preceded another new value
  }
};

} // namespace
} // namespace halftone::compiler
