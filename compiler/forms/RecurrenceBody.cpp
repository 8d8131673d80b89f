// Checks that a scan treats rows independently, and moves slices.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/forms/KernelBody.h"
#include "dialect/ControlFlow.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// Visits the values that a body yields and their producers, and determines which have rows and which are equal for all
/// rows.
class RowRule {
public:
  explicit RowRule(ScanOp scan) : scan(scan) {}

  std::optional<RecurrenceBody> read() {
    const OperandRange yielded = scan.getTerminator()->getOperands();
    if (scan.getInits().empty() || shapeOf(scan.getInits()[0]).empty())
      return std::nullopt;
    found.rows = shapeOf(scan.getInits()[0])[0];
    for (Value each : yielded)
      if (!holds(each, /*isOfRows=*/true))
        return std::nullopt;
    for (BlockArgument carry : scan.getCarries()) {
      if (!holds(carry, /*isOfRows=*/true))
        return std::nullopt;
      const ArrayRef<int64_t> shape = shapeOf(carry);
      found.columns = std::min(found.columns, shape.size() == 1 ? 1 : shape[1]);
    }
    return cost <= maxCost && ops <= maxOps ? std::optional(RecurrenceBody{found, std::move(hasRows)}) : std::nullopt;
  }

private:
  static constexpr int64_t maxOps = 256, maxCost = 6000; // LLVM's time is superlinear in the length of a body

  bool isCapture(Value value) { return !scan.getBody().isAncestor(value.getParentRegion()); }

  bool fitsBlock(Value value, bool isOfRows) const {
    const auto type = cast<RankedTensorType>(value.getType());
    if (type.getEncoding() || type.getElementType().isF64())
      return false;
    return isOfRows ? (type.getRank() == 1 || type.getRank() == 2) && type.getDimSize(0) == found.rows
                    : type.getRank() <= 1;
  }

  bool holds(Value value, bool isOfRows) {
    if (const auto [known, isNew] = hasRows.try_emplace(value, isOfRows); !isNew)
      return known->second == isOfRows; // an operand in memory is read in one way only
    if (!fitsBlock(value, isOfRows))
      return false;
    if (isCapture(value))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument != scan.getIndex() && (isOfRows || llvm::is_contained(scan.getSlices(), argument));
    Operation *op = value.getDefiningOp();
    auto compute = dyn_cast<ComputeOpInterface>(op);
    cost += compute ? compute.getCost() : 0;
    ++ops;
    const auto allHold = [&](ValueRange operands) {
      return llvm::all_of(operands, [&](Value each) { return holds(each, isOfRows); });
    };
    if (auto contract = dyn_cast<ContractOp>(op))
      return isOfRows && holdsProduct(contract);
    if (isa<ElementwiseOpInterface>(op))
      return allHold(op->getOperands());
    if (auto constant = dyn_cast<ConstantOp>(op))
      return isAlwaysCloned(constant);
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      const ArrayRef<int64_t> axes = broadcast.getAxes();
      return holds(broadcast.getX(), isOfRows && !axes.empty() && axes[0] == 0);
    }
    if (auto slice = dyn_cast<SliceOp>(op))
      return allHold(slice.getX());
    if (auto concat = dyn_cast<ConcatOp>(op))
      return isOfRows && concat.getAxis() == 1 && allHold(concat.getXs());
    return false;
  }

  /// The rows are a free axis of the left operand; the right operand is the same in all steps.
  bool holdsProduct(ContractOp op) {
    const auto type = cast<RankedTensorType>(op.getRhs().getType());
    const Type factor = type.getElementType();
    const bool isMatrix = op.getLhsBatch().empty() && op.getLhsContract() == ArrayRef<int64_t>{1} &&
                          op.getRhsContract().size() == 1 && type.getRank() == 2 && !type.getEncoding();
    if (!isMatrix || !isCapture(op.getRhs()) || !isa<FloatType>(factor) || !op.getAccumulatorType().isF32())
      return false;
    if (const auto [known, isNew] = hasRows.try_emplace(op.getRhs(), false); isNew)
      found.weights += type.getNumElements();
    else if (!llvm::is_contained(weights, op.getRhs()))
      return false;
    weights.push_back(op.getRhs());
    if (!factor.isBF16() || !elementTypeOf(op.getLhs()).isBF16())
      hasOtherFactors = true;
    found.factors = hasOtherFactors ? DType::float32 : DType::bfloat16;
    ++found.contractions;
    return holds(op.getLhs(), /*isOfRows=*/true);
  }

  ScanOp scan;
  RecurrenceTraits found;
  DenseMap<Value, bool> hasRows;
  SmallVector<Value> weights;
  bool hasOtherFactors = false;
  int64_t cost = 0, ops = 0;
};

/// Rewrites slice(op(x, y)) as op(slice(x), slice(y)).
class SliceLifter {
public:
  explicit SliceLifter(Block &body) : builder(body.getParentOp()->getContext()) {
    open = llvm::to_vector(body.getOps<SliceOp>());
  }

  void run() {
    while (!open.empty()) {
      SliceOp slice = open.pop_back_val();
      builder.setInsertionPoint(slice);
      Operation *op = slice.getX().getDefiningOp();
      if (!op || op->getBlock() != slice->getBlock())
        continue;
      if (const Value moved = lift(slice, op)) {
        slice.replaceAllUsesWith(moved);
        slice.erase();
      }
    }
  }

private:
  /// Slices `x` along the last axis over the range of `slice`, shifted by `more`.
  Value sliced(SliceOp slice, Value x, int64_t more = 0) {
    const auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> shape(type.getShape()), start(shape.size(), 0);
    shape.back() = shapeOf(slice.getY()).back();
    start.back() = slice.getStart().back() + more;
    if (shape == type.getShape())
      return x;
    open.push_back(SliceOp::create(builder, slice.getLoc(), type.clone(shape), x, start));
    return open.back().getY();
  }

  Value lift(SliceOp slice, Operation *op) {
    const auto type = cast<RankedTensorType>(slice.getType());
    if (isa<ElementwiseOpInterface>(op)) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, sliced(slice, operand));
      Operation *copy = builder.clone(*op, mapping);
      copy->getResult(0).setType(type);
      return copy->getResult(0);
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      const ArrayRef<int64_t> axes = broadcast.getAxes();
      const bool isAlong = !axes.empty() && axes.back() == type.getRank() - 1;
      const Value x = isAlong ? sliced(slice, broadcast.getX()) : broadcast.getX();
      return BroadcastOp::create(builder, op->getLoc(), type, x, axes);
    }
    if (auto constant = dyn_cast<ConstantOp>(op))
      return ConstantOp::create(builder, op->getLoc(), cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    if (auto inner = dyn_cast<SliceOp>(op))
      return sliced(slice, inner.getX(), inner.getStart().back());
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      int64_t begin = 0;
      for (Value operand : concat.getXs()) {
        const int64_t width = shapeOf(operand).back(), offset = slice.getStart().back() - begin;
        if (offset >= 0 && offset + type.getShape().back() <= width)
          return sliced(slice, operand, -begin);
        begin += width;
      }
    }
    return {};
  }

  OpBuilder builder;
  SmallVector<SliceOp> open;
};

/// Returns true if a contraction multiplies by `weights`.
bool areWeights(Value weights) {
  return llvm::any_of(weights.getUses(),
                      [](OpOperand &use) { return isa<ContractOp>(use.getOwner()) && use.getOperandNumber() == 1; });
}

void bringAlwaysClonedInside(ScanOp scan) {
  Block &body = scan.getBody().front();
  for (;;) {
    SmallVector<Operation *> cloned;
    for (Value capture : capturesOf(scan))
      if (Operation *op = capture.getDefiningOp();
          isa_and_nonnull<ConstantOp, BroadcastOp>(op) && isAlwaysCloned(op) && !areWeights(capture))
        cloned.push_back(op);
    if (cloned.empty())
      return;
    for (Operation *op : cloned) {
      OpBuilder builder = OpBuilder::atBlockBegin(&body);
      Operation *copy = builder.clone(*op);
      op->replaceUsesWithIf(copy, [&](OpOperand &use) {
        return scan.getBody().isAncestor(use.getOwner()->getParentRegion()) && use.getOwner() != copy;
      });
    }
  }
}

} // namespace

std::optional<RecurrenceBody> readRecurrence(ScanOp scan) { return RowRule(scan).read(); }

void prepareRecurrence(ScanOp scan) {
  for (ContractOp contract : scan.getBody().getOps<ContractOp>())
    contract.removeTileAttr();
  bringAlwaysClonedInside(scan);
  SliceLifter(scan.getBody().front()).run();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(scan.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace halftone::compiler
