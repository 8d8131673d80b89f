// Custom assembly used by several op families; the generated op definitions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Assembly.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace halftone::dialect {

ParseResult parseSelectType(OpAsmParser &parser, Type &condition, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(result);
  if (!tensor)
    return parser.emitError(loc, "expected a ranked tensor type");
  condition = RankedTensorType::get(tensor.getShape(), parser.getBuilder().getI1Type());
  return success();
}
void printSelectType(OpAsmPrinter &printer, Operation *, Type, Type result) { printer << result; }

ParseResult parseTypesInParens(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}
void printTypesInParens(OpAsmPrinter &printer, Operation *, TypeRange types) { printer << "(" << types << ")"; }

ParseResult parseKernelType(OpAsmParser &parser, TypeAttr &type) {
  FunctionType function;
  if (parser.parseType(function))
    return failure();
  type = TypeAttr::get(function);
  return success();
}
void printKernelType(OpAsmPrinter &printer, Operation *, TypeAttr type) { printer << type.getValue(); }

} // namespace halftone::dialect

#define GET_OP_CLASSES
#include "dialect/Ops.cpp.inc"
