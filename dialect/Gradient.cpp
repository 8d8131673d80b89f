// Values that carry a derivative, and the combination of cotangents.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Gradient.h"

using namespace mlir;

namespace halftone::dialect {

bool isDifferentiable(Type tensorType) {
  auto type = dyn_cast<RankedTensorType>(tensorType);
  return type && isa<FloatType>(type.getElementType());
}

bool isConstantToGradient(Operation *op) {
  return isa<StopGradientOp>(op) || op->getNumOperands() == 0 ||
         llvm::none_of(op->getResultTypes(), isDifferentiable) ||
         llvm::none_of(op->getOperandTypes(), isDifferentiable);
}

Value combinedCotangents(OpBuilder &builder, Location loc, Value a, Value b, VariableOp variable) {
  if (variable && variable.getUpdate() == UpdateKind::overwrite)
    return MaximumOp::create(builder, loc, a, b);
  const auto tensor = cast<RankedTensorType>(a.getType());
  if (tensor.getElementType().getIntOrFloatBitWidth() != 8 || !isa<FloatType>(tensor.getElementType()))
    return AddOp::create(builder, loc, a, b);
  const auto wide = RankedTensorType::get(tensor.getShape(), builder.getF32Type());
  const auto as = [&](Value value, Type to) -> Value {
    return CastOp::create(builder, loc, to, value, CastKind::rounding, "float8");
  };
  return as(AddOp::create(builder, loc, as(a, wide), as(b, wide)), tensor);
}

} // namespace halftone::dialect
