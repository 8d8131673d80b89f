// Rewrites weights of rank above 2 as the matrices that contractions multiply by.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = contract %x, %w {lhs_contract = [2], rhs_contract = [0]} : (tensor<1x8x4xi8>, tensor<4x2x3xi8>) -> tensor<1x8x2x3xi32>
//   %2 = add %1, (broadcast %b {axes = [2, 3]})
// becomes
//   %0 = reshape %w : tensor<4x2x3xi8> to tensor<4x6xi8>
//   %1 = contract %x, %0 {lhs_contract = [2], rhs_contract = [0]} : (tensor<1x8x4xi8>, tensor<4x6xi8>) -> tensor<1x8x6xi32>
//   %2 = reshape (add %1, (broadcast (reshape %b : tensor<2x3xi32> to tensor<6xi32>) {axes = [2]}))
#include "compiler/passes/WeightMatrices.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/passes/SplitDepth.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

int64_t extentOf(Value value, ArrayRef<int64_t> axes) {
  return std::accumulate(axes.begin(), axes.end(), int64_t(1),
                         [&](int64_t product, int64_t axis) { return product * tensorTypeOf(value).getDimSize(axis); });
}

Value reshaped(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  if (tensorTypeOf(value).getShape() == shape)
    return value;
  return ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get(shape, tensorTypeOf(value).getElementType()),
                           value);
}

/// Like reshaped(), but a cast of a value that is not elementwise stays after the reshape, where it fuses into the
/// contraction's kernel.
Value reshapedBelowCasts(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || tensorTypeOf(value).getShape() == shape ||
      isa_and_nonnull<ElementwiseOpInterface>(cast.getX().getDefiningOp()))
    return reshaped(builder, value, shape);
  Value x = reshapedBelowCasts(builder, cast.getX(), shape);
  Operation *own = builder.clone(*cast);
  own->setOperand(0, x);
  own->getResult(0).setType(RankedTensorType::get(shape, tensorTypeOf(value).getElementType()));
  return own->getResult(0);
}

/// `shape` with one axis in place of those from `first` on.
SmallVector<int64_t> withLastMerged(ArrayRef<int64_t> shape, int64_t first) {
  SmallVector<int64_t> merged(shape.take_front(first));
  merged.push_back(ShapedType::getNumElements(shape.drop_front(first)));
  return merged;
}

/// Merges the last axes, from `first` on, of the values of elementwise ops.
class LastAxesMerger {
public:
  LastAxesMerger(ArrayRef<int64_t> shape, int64_t first)
      : shape(shape), merged(withLastMerged(shape, first)), first(first) {}

  /// Returns true if sink() can move the reshape below all elementwise ops on `result`, which then stay in the kernel
  /// that computes `result`, and if no transpose reads them, since that kernel would store the value transposed.
  bool canSink(Value result) const {
    constexpr size_t limit = 64;
    llvm::SetVector<Operation *> work;
    SmallVector<Value> open{result};
    while (!open.empty()) {
      for (Operation *reader : open.pop_back_val().getUsers()) {
        if (isa<TransposeOp>(reader) || work.size() > limit)
          return false;
        if (isa<ElementwiseOpInterface>(reader) && work.insert(reader))
          llvm::append_range(open, reader->getResults());
      }
    }
    return llvm::all_of(work, [&](Operation *op) {
      return isWork(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
               return operand == result || work.contains(operand.getDefiningOp()) || mayMerge(operand, op, 0);
             });
    });
  }

  /// Moves the reshape below the elementwise ops that read it, as far as their other operands allow.
  void sink(ReshapeOp last) {
    SmallVector<ReshapeOp> open{last};
    while (!open.empty()) {
      ReshapeOp reshape = open.pop_back_val();
      const llvm::SetVector<Operation *> users(reshape->user_begin(), reshape->user_end());
      for (Operation *user : users)
        if (ReshapeOp next = move(user))
          open.push_back(next);
      if (reshape.use_empty())
        reshape.erase();
    }
    for (Operation *op : copied) // users come before their operands
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  static constexpr int deepest = 4;

  RankedTensorType mergedType(Value value) const {
    return RankedTensorType::get(merged, tensorTypeOf(value).getElementType());
  }

  /// Returns the reshape that replaces `user`; null if `user` stays.
  ReshapeOp move(Operation *user) {
    if (user->use_empty() || !isWork(user) ||
        !llvm::all_of(user->getOperands(), [&](Value operand) { return mayMerge(operand, user, 0); }))
      return {};
    OpBuilder builder(user);
    Operation *moved = clone(builder, user);
    auto reshape = ReshapeOp::create(builder, user->getLoc(), tensorTypeOf(user->getResult(0)), moved->getResult(0));
    user->replaceAllUsesWith(reshape);
    copied.remove(user);
    user->erase();
    return reshape;
  }

  bool isWork(Operation *op) const {
    return isa<ElementwiseOpInterface>(op) && op->getNumResults() == 1 &&
           tensorTypeOf(op->getResult(0)).getShape() == ArrayRef(shape);
  }

  /// Returns true if `value` is available in the merged shape at no cost at `user`.
  bool mayMerge(Value value, Operation *user, int depth) const {
    if (tensorTypeOf(value).getShape() != ArrayRef(shape))
      return false;
    Operation *op = value.getDefiningOp();
    if (!op)
      return true; // in memory
    if (op->getBlock() != user->getBlock())
      return false;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return tensorTypeOf(reshape.getX()).getShape() == ArrayRef(merged);
    if (auto constant = dyn_cast<ConstantOp>(op))
      return cast<DenseElementsAttr>(constant.getValue()).isSplat();
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      const auto isMerged = [&](int64_t axis) { return axis >= first; };
      const auto count = llvm::count_if(broadcast.getAxes(), isMerged);
      return count == 0 || count == int64_t(shape.size()) - first;
    }
    return depth < deepest && isWork(op) && op->hasOneUse() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return mayMerge(operand, op, depth + 1); });
  }

  Operation *clone(OpBuilder &builder, Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(mergedOf(builder, operand));
    Operation *own = builder.clone(*op);
    own->setOperands(operands);
    own->getResult(0).setType(mergedType(op->getResult(0)));
    return own;
  }

  Value mergedOf(OpBuilder &builder, Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return reshaped(builder, value, merged);
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return reshape.getX();
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      return ConstantOp::create(builder, op->getLoc(), mergedType(value), elements.resizeSplat(mergedType(value)));
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      SmallVector<int64_t> axes(broadcast.getAxes());
      Value x = broadcast.getX();
      const auto *last = llvm::find_if(axes, [&](int64_t axis) { return axis >= first; });
      if (const int64_t kept = last - axes.begin(); kept < int64_t(axes.size())) {
        x = reshaped(builder, x, withLastMerged(tensorTypeOf(x).getShape(), kept));
        axes.resize(size_t(kept));
        axes.push_back(first);
      }
      return BroadcastOp::create(builder, op->getLoc(), mergedType(value), x, axes);
    }
    copied.insert(op);
    return clone(builder, op)->getResult(0);
  }

  SmallVector<int64_t> shape, merged;
  int64_t first;
  llvm::SetVector<Operation *> copied; // ops on other operands that are cloned in the new shape
};

} // namespace

std::optional<WeightMatrix> WeightMatrix::of(ContractOp op) {
  const SmallVector<int64_t> free = op.getRhsFree();
  const ArrayRef<int64_t> contracted = op.getRhsContract();
  if (tensorTypeOf(op.getRhs()).getRank() < 3 || !op.getLhsBatch().empty() || free.empty() || !areNeighbours(free) ||
      !areNeighbours(contracted) || !areNeighbours(op.getLhsContract()))
    return std::nullopt;
  const RankedTensorType type = tensorTypeOf(op.getResult());
  if (free.size() > 1 &&
      !LastAxesMerger(type.getShape(), type.getRank() - int64_t(free.size())).canSink(op.getResult()))
    return std::nullopt;
  return WeightMatrix{extentOf(op.getRhs(), contracted), extentOf(op.getRhs(), free), contracted.front() == 0};
}

ContractOp multiplyByMatrix(ContractOp op, const WeightMatrix &matrix) {
  OpBuilder builder(op);
  const ArrayRef<int64_t> contracted = op.getLhsContract();
  SmallVector<int64_t> lhsShape(tensorTypeOf(op.getLhs()).getShape());
  lhsShape.erase(lhsShape.begin() + contracted.front(), lhsShape.begin() + contracted.back() + 1);
  lhsShape.insert(lhsShape.begin() + contracted.front(), matrix.depth);
  SmallVector<int64_t> rhsShape{matrix.depth, matrix.columns};
  if (!matrix.depthFirst)
    std::swap(rhsShape[0], rhsShape[1]);
  const auto type = tensorTypeOf(op.getResult());
  const auto first = type.getRank() - int64_t(op.getRhsFree().size());
  const auto merged = RankedTensorType::get(withLastMerged(type.getShape(), first), type.getElementType());
  auto product = ContractOp::create(builder, op.getLoc(), merged, reshapedBelowCasts(builder, op.getLhs(), lhsShape),
                                    reshaped(builder, op.getRhs(), rhsShape), ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                    ArrayRef<int64_t>(contracted.front()), ArrayRef<int64_t>(matrix.depthFirst ? 0 : 1),
                                    DenseI64ArrayAttr());
  if (merged == type) {
    op.replaceAllUsesWith(product.getResult());
  } else {
    auto reshape = ReshapeOp::create(builder, op.getLoc(), type, product.getResult());
    op.replaceAllUsesWith(reshape.getResult());
    LastAxesMerger(type.getShape(), first).sink(reshape);
  }
  Operation *lhs = op.getLhs().getDefiningOp();
  op.erase();
  if (lhs && isOpTriviallyDead(lhs)) // a cast that is cloned after the reshape
    lhs->erase();
  return product;
}

} // namespace halftone::compiler
