// Accumulator dtypes of sums of products.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Products.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace halftone::dialect {

Type productAccumulator(Type element) {
  if (isa<Float64Type>(element))
    return element;
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  return element.isInteger(64) ? element : Type(IntegerType::get(element.getContext(), 32));
}

static LogicalResult verifyFloats(Operation *op, Type lhs, Type rhs, Type result) {
  auto isFloat8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  if (lhs != rhs && !(isFloat8(lhs) && isFloat8(rhs)))
    return op->emitOpError() << "operands must have the same dtype, or both be float8, but got " << lhs << " by "
                             << rhs;
  if (isFloat8(lhs) ? !result.isF32() : result != lhs && !(result.isF32() && !lhs.isF64()))
    return op->emitOpError() << "of " << lhs << " by " << rhs << " expects a result of "
                             << (isFloat8(lhs) || lhs.isF32() ? "f32"
                                 : lhs.isF64()                ? "f64"
                                                              : "the operands' dtype or f32")
                             << ", but got " << result;
  return success();
}

LogicalResult verifyProducts(Operation *op, uint64_t depth) {
  Type lhs = getElementTypeOrSelf(op->getOperand(0).getType()), rhs = getElementTypeOrSelf(op->getOperand(1).getType());
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (lhs.isInteger(8) && !lhs.isUnsignedInteger()) {
    if (rhs != lhs || !result.isSignlessInteger(32))
      return op->emitOpError() << "of i8 expects i8 by i8 into i32, but got " << lhs << " by " << rhs << " into "
                               << result;
    constexpr uint64_t limit = 131071;
    if (depth > limit)
      return op->emitOpError() << "of i8 sums at most " << limit << " products, or i32 could overflow, but got "
                               << depth;
    return success();
  }
  if (lhs.isSignlessInteger(32) || lhs.isSignlessInteger(64)) {
    if (rhs != lhs || result != lhs)
      return op->emitOpError() << "of " << lhs << " expects " << lhs << " by " << lhs << " into " << lhs << ", but got "
                               << lhs << " by " << rhs << " into " << result;
    return success();
  }
  if (!isa<FloatType>(lhs) || !isa<FloatType>(rhs))
    return op->emitOpError() << "supports floats, i8, i32 and i64, but got " << lhs << " by " << rhs;
  return verifyFloats(op, lhs, rhs, result);
}

} // namespace halftone::dialect
