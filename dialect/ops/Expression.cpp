// Halftone ops written as expressions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Expression.h"

using namespace mlir;

namespace halftone::dialect {

Value Expression::splat(Type tensorType, double value) {
  auto type = cast<RankedTensorType>(tensorType);
  Type element = type.getElementType();
  Attribute attr = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, value))
                                           : Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(value)));
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, attr));
}

Value Expression::cast(Value value, Type elementType, StringRef origin) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return CastOp::create(builder, loc, type.clone(elementType), value, CastKind::rounding, origin);
}

Value Expression::compare(ComparePredicate predicate, Value lhs, Value rhs) {
  auto type = mlir::cast<RankedTensorType>(lhs.getType()).clone(builder.getI1Type());
  return CompareOp::create(builder, loc, type, predicate, lhs, rhs);
}

Value Expression::broadcast(Value value, Type tensorType, ArrayRef<int64_t> keptAxes) {
  if (value.getType() == tensorType)
    return value;
  return BroadcastOp::create(builder, loc, tensorType, value, keptAxes);
}

Value Expression::sum(Value value, ArrayRef<int64_t> axes, Type elementType) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  if (axes.empty() && type.getElementType() == elementType)
    return value;
  SmallVector<int64_t> shape;
  for (int64_t axis : otherAxes(type.getRank(), axes))
    shape.push_back(type.getDimSize(axis));
  return ReduceOp::create(builder, loc, RankedTensorType::get(shape, elementType), ReduceKind::sum, value, axes);
}

Value Expression::transpose(Value value, ArrayRef<int64_t> permutation) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  bool identity = true;
  SmallVector<int64_t> shape;
  for (auto [index, axis] : llvm::enumerate(permutation)) {
    identity &= axis == static_cast<int64_t>(index);
    shape.push_back(type.getDimSize(axis));
  }
  if (identity)
    return value;
  return TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

SmallVector<int64_t> otherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

} // namespace halftone::dialect
