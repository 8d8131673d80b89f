// Registration of the dialect.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/Dialect.cpp.inc"
#include "dialect/Enums.cpp.inc"
#include "dialect/Interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Attrs.cpp.inc"

using namespace mlir;

namespace halftone::dialect {

void HalftoneDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Ops.cpp.inc"
      >();
}

Operation *HalftoneDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, cast<RankedTensorType>(type), elements);
}

void registerDialects(DialectRegistry &registry) { registry.insert<HalftoneDialect, func::FuncDialect>(); }

} // namespace halftone::dialect
