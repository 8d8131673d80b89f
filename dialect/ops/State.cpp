// Variables, their reads and writes.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

static FailureOr<RankedTensorType> variableType(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError() << "names " << name << ", which is not a variable";
  return cast<RankedTensorType>(variable.getType());
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<RankedTensorType> type = variableType(*this, getVariableAttr(), symbols);
  if (failed(type))
    return failure();
  auto result = cast<RankedTensorType>(getValue().getType());
  if (result == *type)
    return success();
  if (result.getShape() != type->getShape())
    return emitOpError() << "reads variable " << getVariableAttr() << " of type " << *type << " as " << result
                         << ": the shapes differ";
  if (!isa<FloatType>(result.getElementType()) || !isa<FloatType>(type->getElementType()))
    return emitOpError() << "reads variable " << getVariableAttr() << " of type " << *type << " as " << result
                         << ": only the dtypes of floats may differ";
  return success();
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<RankedTensorType> type = variableType(*this, getVariableAttr(), symbols);
  if (failed(type))
    return failure();
  if (getValue().getType() != *type)
    return emitOpError() << "gives variable " << getVariableAttr() << " of type " << *type << " a value of type "
                         << getValue().getType();
  return success();
}

} // namespace halftone::dialect
