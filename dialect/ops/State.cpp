// Variable definitions, reads and writes.
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
    return emitOpError() << "assigns a value of type " << getValue().getType() << " to variable " << getVariableAttr()
                         << " of type " << *type;
  return success();
}

RankedTensorType ShadowOp::getType() {
  return cast<RankedTensorType>(getBody().front().getTerminator()->getOperand(0).getType());
}

LogicalResult ShadowOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1)
    return emitOpError() << "must be a function of one value, but has " << block.getNumArguments() << " arguments";
  if (block.getTerminator()->getNumOperands() != 1)
    return emitOpError() << "must yield one value, but yields " << block.getTerminator()->getNumOperands();
  for (Type type : {block.getArgument(0).getType(), block.getTerminator()->getOperand(0).getType()})
    if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
      return emitOpError() << "expects operands and results of static shape, but got " << type;
  for (Operation &op : block.without_terminator())
    if (!isMemoryEffectFree(&op) || op.getNumRegions() || isa<LaunchOp>(op))
      return op.emitOpError("is not legal in a shadow, whose ops must be pure and have no regions");
  return success();
}

LogicalResult ShadowOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto above = symbols.lookupNearestSymbolFrom<ShadowOp>(*this, getSourceAttr());
  if (above && (above->getBlock() != (*this)->getBlock() || !above->isBeforeInBlock(*this)))
    return emitOpError() << "is a function of shadow " << getSourceAttr() << ", which is not defined above it";
  FailureOr<RankedTensorType> type = above ? above.getType() : variableType(*this, getSourceAttr(), symbols);
  if (failed(type))
    return failure();
  if (getBody().front().getArgument(0).getType() != *type)
    return emitOpError() << "is a function of " << (above ? "shadow " : "variable ") << getSourceAttr() << " of type "
                         << *type << ", but its region takes " << getBody().front().getArgument(0).getType();
  return success();
}

} // namespace halftone::dialect
