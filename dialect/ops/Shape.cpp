// Ops that rearrange elements.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Expression.h"

using namespace mlir;

namespace halftone::dialect {

static LogicalResult verifySameDType(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType()), y = cast<RankedTensorType>(op->getResult(0).getType());
  if (x.getElementType() != y.getElementType())
    return op->emitOpError() << "operand and result must have the same dtype, but got " << x.getElementType() << " and "
                             << y.getElementType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  if (x.getNumElements() != y.getNumElements())
    return emitOpError() << "operand and result must have the same number of elements, but got " << x.getNumElements()
                         << " and " << y.getNumElements();
  return verifySameDType(*this);
}

LogicalResult BroadcastOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  ArrayRef<int64_t> axes = getAxes();
  if (static_cast<int64_t>(axes.size()) != x.getRank())
    return emitOpError() << "needs one axis per axis of its operand, " << x.getRank() << ", but got " << axes.size();
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= y.getRank())
      return emitOpError() << "axis " << axis << " is out of range for a result of rank " << y.getRank();
    if (index && axes[index - 1] >= axis)
      return emitOpError() << "axes must ascend strictly, but " << axis << " follows " << axes[index - 1];
    if (x.getDimSize(index) != y.getDimSize(axis))
      return emitOpError() << "operand axis " << index << " of extent " << x.getDimSize(index)
                           << " becomes result axis " << axis << " of extent " << y.getDimSize(axis);
  }
  return verifySameDType(*this);
}

LogicalResult TransposeOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  bool valid = static_cast<int64_t>(permutation.size()) == x.getRank();
  for (auto [index, axis] : llvm::enumerate(sorted))
    valid &= axis == static_cast<int64_t>(index);
  if (!valid)
    return emitOpError() << "needs a permutation of its operand's " << x.getRank() << " axes, but got [" << permutation
                         << "]";
  if (y.getRank() != x.getRank())
    return emitOpError() << "operand and result must have the same rank, but got " << x.getRank() << " and "
                         << y.getRank();
  for (auto [index, axis] : llvm::enumerate(permutation))
    if (y.getDimSize(index) != x.getDimSize(axis))
      return emitOpError() << "result axis " << index << " of extent " << y.getDimSize(index) << " is operand axis "
                           << axis << " of extent " << x.getDimSize(axis);
  return verifySameDType(*this);
}

LogicalResult PackOp::verify() {
  if (!PanelsAttr::of(getY().getType()))
    return emitOpError("result is not packed; expected a type with #halftone.panels");
  return success();
}

// Rearranging a splat gives a splat.
static Attribute foldSplat(Attribute operand, Type type) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(operand);
  return elements && elements.isSplat() ? elements.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()))
    return elements.isSplat() ? Attribute(elements.resizeSplat(cast<ShapedType>(getY().getType())))
                              : Attribute(elements.reshape(cast<ShapedType>(getY().getType())));
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getY();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (Attribute splat = foldSplat(adaptor.getX(), getY().getType()))
    return splat;
  if (auto inner = getX().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> axes;
    for (int64_t axis : inner.getAxes())
      axes.push_back(getAxes()[axis]);
    getXMutable().assign(inner.getX());
    setAxes(axes);
    return getY();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  // Axes of extent 1 may move freely if the type does not change.
  SmallVector<int64_t> moved(getPermutation());
  if (getX().getType() == getY().getType())
    llvm::erase_if(moved, [&](int64_t axis) { return cast<RankedTensorType>(getX().getType()).getDimSize(axis) == 1; });
  if (llvm::is_sorted(moved))
    return getX();
  if (Attribute splat = foldSplat(adaptor.getX(), getY().getType()))
    return splat;
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> permutation;
    for (int64_t axis : getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    getXMutable().assign(inner.getX());
    setPermutation(permutation);
    return getY();
  }
  return {};
}

LogicalResult ReshapeOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  gradients.push_back(ReshapeOp::create(builder, getLoc(), getX().getType(), cotangents[0]));
  return success();
}

LogicalResult BroadcastOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  auto y = cast<RankedTensorType>(getY().getType());
  gradients.push_back(
      Expression(builder, getLoc()).sum(cotangents[0], otherAxes(y.getRank(), getAxes()), y.getElementType()));
  return success();
}

LogicalResult TransposeOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [index, axis] : llvm::enumerate(getPermutation()))
    inverse[axis] = index;
  gradients.push_back(Expression(builder, getLoc()).transpose(cotangents[0], inverse));
  return success();
}

SmallVector<Value> BroadcastOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<BroadcastOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxes(afterSteps(getAxes()));
  return {copy};
}

SmallVector<Value> TransposeOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<TransposeOp>(cloneOfStacks(builder, *this, operands));
  copy.setPermutation(afterSteps(getPermutation()));
  return {copy};
}

} // namespace halftone::dialect
