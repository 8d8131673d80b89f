// Values that processes combine.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getXs().empty())
    return emitOpError("combines at least one value");
  if ((*this)->getParentOfType<WhenOp>())
    return emitOpError("stands in a 'halftone.when', but every process runs the same all_reduces");
  return success();
}

LogicalResult AllReduceOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  if (getKind() != CollectiveKind::sum)
    return emitOpError() << "of kind " << stringifyCollectiveKind(getKind()) << " has no gradient; expected kind sum";
  for (Value cotangent : cotangents)
    gradients.push_back(
        cotangent
            ? AllReduceOp::create(builder, getLoc(), CollectiveKind::sum, cotangent, IntegerAttr()).getOutputs().front()
            : Value());
  return success();
}

} // namespace halftone::dialect
