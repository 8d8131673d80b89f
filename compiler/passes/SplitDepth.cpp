// Splits a contraction into parts of K, and adds up the parts.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = contract %x, %dy {lhs_contract = [0], rhs_contract = [0]} : 16384 x 30 by 16384 x 10 -> bf16
// becomes
//   %a = reshape %x : 4 x 4096 x 30;  %b = reshape %dy : 4 x 4096 x 10
//   %p = contract %a, %b {lhs_batch = [0], rhs_batch = [0], lhs_contract = [1], rhs_contract = [1]} -> f32
//   %s = reduce sum %p {axes = [0]} : 4 x 30 x 10 -> f32;  %1 = cast %s : bf16
// The reshapes are free: splitting an axis does not change the memory layout.
#include "compiler/passes/SplitDepth.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/forms/WindowTraits.h"
#include "dialect/ControlFlow.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool areNeighbours(ArrayRef<int64_t> axes) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1)
      return false;
  return !axes.empty();
}

namespace {

/// `count` adjacent axes starting at `first`, which become two: the parts, and the indices in a part.
struct AxisSplit {
  int64_t first, count, parts, depth;

  SmallVector<int64_t> shape(ArrayRef<int64_t> whole) const {
    SmallVector<int64_t> result(whole.take_front(first));
    result.append({parts, depth});
    llvm::append_range(result, whole.drop_front(first + count));
    return result;
  }
  /// The batch axes of the tensor after the split: `axes`, which are not split, at their new positions, and the axis of
  /// the parts.
  SmallVector<int64_t> batch(ArrayRef<int64_t> axes, bool partsLast) const {
    SmallVector<int64_t> result;
    for (int64_t axis : axes)
      result.push_back(axis < first ? axis : axis + 2 - count);
    result.insert(partsLast ? result.end() : result.begin(), first);
    return result;
  }
};

/// Returns true if `value` is a cast of a tensor in memory, which kernels clone; after a reshape it would be stored.
/// Casts of weights to fewer bytes stay, since hoist-shadows stores their values.
bool isCopiedCast(Value value) {
  if (!value.getDefiningOp<CastOp>())
    return false;
  const unsigned width = tensorTypeOf(value).getElementTypeBitWidth();
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return isa<ReshapeOp>(value.getDefiningOp()) || isBranchOrLoop(value.getDefiningOp());
  Operation *around = argument.getOwner()->getParentOp();
  if (isBranchOrLoop(around))
    return true;
  auto main = dyn_cast<func::FuncOp>(around);
  const bool isVariable = main && main.getArgAttr(argument.getArgNumber(), variableAttr);
  return main && !(isVariable && width < tensorTypeOf(argument).getElementTypeBitWidth());
}

Value reshapedBeforeCast(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  const auto type = RankedTensorType::get(shape, tensorTypeOf(value).getElementType());
  if (!isCopiedCast(value)) {
    while (auto inner = value.getDefiningOp<ReshapeOp>())
      value = inner.getX();
    return value.getType() == type ? value : builder.createOrFold<ReshapeOp>(value.getLoc(), type, value);
  }
  auto cast = value.getDefiningOp<CastOp>();
  IRMapping mapping;
  mapping.map(cast.getX(), reshapedBeforeCast(builder, cast.getX(), shape));
  Operation *moved = builder.clone(*cast, mapping);
  moved->getResult(0).setType(type);
  return moved->getResult(0);
}

bool maySplit(ContractOp op) {
  const bool hasWindow = windowOf(op) != nullptr; // a splat next to it is stored
  const auto isStored = [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    const bool isSplatToStore = hasWindow && isa_and_nonnull<ConstantOp>(producer);
    return !(producer && isAlwaysCloned(producer) && !isSplatToStore) && !PanelsAttr::of(operand.getType());
  };
  // The taps and channels of a window must not be split, since a matmul reads whole rows of the window.
  const auto cutsTaps = [&] {
    return op.getLhs().getDefiningOp<WindowOp>() &&
           op.getLhsContract().back() + 1 == tensorTypeOf(op.getLhs()).getRank();
  };
  return !op.isExact() && areNeighbours(op.getLhsContract()) && areNeighbours(op.getRhsContract()) && !cutsTaps() &&
         llvm::all_of(op->getOperands(), isStored);
}

} // namespace

MatmulTraits matmulTraits(ContractOp op) {
  const auto elementOf = [](Type type) { return dialect::dtypeOf(getElementTypeOrSelf(type)).value_or(DType::bool_); };
  const auto product = [](Value operand, ArrayRef<int64_t> axes) {
    int64_t extent = 1;
    for (int64_t axis : axes)
      extent *= shapeOf(operand)[axis];
    return extent;
  };
  MatmulTraits traits{elementOf(op.getLhs().getType()), elementOf(op.getRhs().getType()),
                      elementOf(op.getAccumulatorType())};
  traits.rows = product(op.getLhs(), op.getLhsFree());
  traits.columns = product(op.getRhs(), op.getRhsFree());
  traits.depth = product(op.getLhs(), op.getLhsContract());
  traits.batch = product(op.getLhs(), op.getLhsBatch());
  traits.lhsAlongDepth = llvm::is_contained(op.getLhsContract(), tensorTypeOf(op.getLhs()).getRank() - 1);
  if (WindowOp window = windowOf(op))
    setWindow(traits, window);
  return traits;
}

ContractOp splitDepth(ContractOp op, const Blocking &blocking) {
  const MatmulTraits traits = matmulTraits(op);
  const int64_t parts = maySplit(op) ? blocking.depthParts(traits) : 1;
  if (parts == 1)
    return op;
  const int64_t count = static_cast<int64_t>(op.getLhsContract().size());
  const AxisSplit lhs{op.getLhsContract()[0], count, parts, traits.depth / parts},
      rhs{op.getRhsContract()[0], count, parts, traits.depth / parts};
  // Leading batch axes of the left operand stay leading, so that a matmul can read a window of several groups.
  const bool partsLast = llvm::all_of(op.getLhsBatch(), [&](int64_t axis) { return axis < lhs.first; });
  const auto partsAt = static_cast<int64_t>(partsLast ? op.getLhsBatch().size() : 0);
  SmallVector<int64_t> shape(shapeOf(op));
  shape.insert(shape.begin() + partsAt, parts);
  const Type sum = op.getAccumulatorType(), element = tensorTypeOf(op).getElementType();
  OpBuilder builder(op);
  Value a = reshapedBeforeCast(builder, op.getLhs(), lhs.shape(shapeOf(op.getLhs())));
  Value b = reshapedBeforeCast(builder, op.getRhs(), rhs.shape(shapeOf(op.getRhs())));
  auto split = ContractOp::create(builder, op.getLoc(), RankedTensorType::get(shape, sum), a, b,
                                  lhs.batch(op.getLhsBatch(), partsLast), rhs.batch(op.getRhsBatch(), partsLast),
                                  ArrayRef(lhs.first + 1), ArrayRef(rhs.first + 1),
                                  /*tile=*/DenseI64ArrayAttr());
  Value whole = ReduceOp::create(builder, op.getLoc(), RankedTensorType::get(shapeOf(op), sum), ReduceKind::sum, split,
                                 builder.getDenseI64ArrayAttr(partsAt));
  if (sum != element)
    whole = CastOp::create(builder, op.getLoc(), op.getType(), whole, CastKind::storage, "reduction");
  op.replaceAllUsesWith(whole);
  op.erase();
  return split;
}

} // namespace halftone::compiler
