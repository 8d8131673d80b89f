// Sorting.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Gradient.h"
#include "dialect/TypeInference.h"
#include "dialect/ops/Expression.h"

using namespace mlir;

namespace halftone::dialect {

// With a single element the index is always 0.
bool SortOp::isDecision() { return tensorTypeOf(getX()).getDimSize(getAxis()) > 1; }

LogicalResult SortOp::verify() {
  RankedTensorType x = tensorTypeOf(getX()), values = tensorTypeOf(getValues()), indices = tensorTypeOf(getIndices());
  const auto axis = static_cast<int64_t>(getAxis());
  if (axis < 0 || axis >= x.getRank())
    return emitOpError() << "axis " << axis << " is out of range for an operand of rank " << x.getRank();
  if (x.getDimSize(axis) > std::numeric_limits<int32_t>::max())
    return emitOpError() << "returns i32 indices, but axis " << axis << " has " << x.getDimSize(axis) << " elements";
  SmallVector<int64_t> expected(x.getShape());
  if (values.getRank() == x.getRank())
    expected[axis] = values.getDimSize(axis);
  if (values != x.clone(expected))
    return emitOpError() << "operand and values differ in more than the extent of axis " << axis << ": " << x << " and "
                         << values;
  if (expected[axis] > x.getDimSize(axis))
    return emitOpError() << "returns " << expected[axis] << " elements along axis " << axis << ", which has "
                         << x.getDimSize(axis);
  if (indices.getShape() != values.getShape())
    return emitOpError() << "returns an index for each value, but values are " << values << " and indices " << indices;
  return success();
}

// The position of each value in x, as indices into flattened x.
static Value positionsOf(Expression &e, SortOp op) {
  RankedTensorType x = tensorTypeOf(op.getX()), indices = tensorTypeOf(op.getIndices());
  const auto axis = static_cast<int64_t>(op.getAxis());
  const bool fits = x.getNumElements() <= std::numeric_limits<int32_t>::max();
  const Type element = fits ? e.builder.getI32Type() : e.builder.getI64Type();
  const int64_t inner = ShapedType::getNumElements(x.getShape().drop_front(axis + 1));
  const auto type = RankedTensorType::get(
      {ShapedType::getNumElements(x.getShape().take_front(axis)), indices.getDimSize(axis), inner}, element);
  Value along = ReshapeOp::create(e.builder, e.loc, type, e.cast(op.getIndices(), element, "gradient of sort"));
  Value row = e.mul(IotaOp::create(e.builder, e.loc, type, 0), double(x.getDimSize(axis)));
  Value position = e.mul(e.add(row, along), double(inner));
  position = e.add(position, IotaOp::create(e.builder, e.loc, type, 2));
  return ReshapeOp::create(e.builder, e.loc, RankedTensorType::get({type.getNumElements()}, element), position);
}

LogicalResult SortOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  RankedTensorType x = tensorTypeOf(getX());
  if (!isDifferentiable(x) || !cotangents[0]) {
    gradients.push_back({});
    return success();
  }
  Expression e(builder, getLoc());
  RankedTensorType values = tensorTypeOf(getValues());
  Value updates = ReshapeOp::create(builder, getLoc(), values.clone({values.getNumElements()}), cotangents[0]);
  Value sums =
      ScatterAddOp::create(builder, getLoc(), x.clone({x.getNumElements()}), positionsOf(e, *this), updates, 0);
  gradients.push_back(ReshapeOp::create(builder, getLoc(), x, sums));
  return success();
}

SmallVector<Value> SortOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<SortOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  return resultsOf(copy);
}

bool SortOp::leavesLoops() { return true; }

} // namespace halftone::dialect
