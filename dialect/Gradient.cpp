// Which values carry a derivative.
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

} // namespace halftone::dialect
