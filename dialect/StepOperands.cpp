// Clones ops with stacks as operands and results.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/StepOperands.h"
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

RankedTensorType stackType(Type type, int64_t steps) {
  auto slice = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{steps};
  llvm::append_range(shape, slice.getShape());
  return RankedTensorType::get(shape, slice.getElementType());
}

SmallVector<int64_t> stackAxes(ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [](int64_t axis) { return axis + 1; });
}

SmallVector<int64_t> afterSteps(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> moved = stackAxes(axes);
  moved.insert(moved.begin(), 0);
  return moved;
}

Value StepOperands::stack(OpBuilder &builder, Location loc, unsigned number) const {
  const Value value = values[number];
  if (isStacked[number])
    return value;
  const RankedTensorType type = stackType(value.getType(), steps);
  return builder.createOrFold<BroadcastOp>(loc, type, value, llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())));
}

Operation *cloneOfStacks(OpBuilder &builder, Operation *op, const StepOperands &operands) {
  SmallVector<Value> stacks;
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    stacks.push_back(operands.stack(builder, op->getLoc(), number));
  Operation *copy = builder.clone(*op);
  copy->setOperands(stacks);
  for (Value result : copy->getResults())
    result.setType(stackType(result.getType(), operands.steps));
  return copy;
}

SmallVector<Value> resultsOf(Operation *copy) { return llvm::to_vector_of<Value>(copy->getResults()); }

Value joinSteps(OpBuilder &builder, Location loc, Value stack) {
  SmallVector<int64_t> shape(shapeOf(stack).drop_front());
  shape.front() *= shapeOf(stack).front();
  return builder.createOrFold<ReshapeOp>(loc, tensorTypeOf(stack).clone(shape), stack);
}

Value splitSteps(OpBuilder &builder, Location loc, Value joined, int64_t steps) {
  SmallVector<int64_t> shape(shapeOf(joined));
  shape.front() /= steps;
  shape.insert(shape.begin(), steps);
  return builder.createOrFold<ReshapeOp>(loc, tensorTypeOf(joined).clone(shape), joined);
}

} // namespace halftone::dialect
