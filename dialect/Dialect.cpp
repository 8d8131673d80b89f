// Registration of the dialect, its interfaces and its canonicalization.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "dialect/Bytecode.h"
#include "dialect/ControlFlow.h"
#include "dialect/ExactRewrites.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/Dialect.cpp.inc"
#include "dialect/Interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Attrs.cpp.inc"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// Allows inlining of every op from a helper function to a call site, including one inside a layer, a branch or a loop.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *into, Region *, bool, IRMapping &) const override {
    return isa<LayerOp>(into->getParentOp()) || isBranchOrLoop(into->getParentOp());
  }
};

} // namespace

void HalftoneDialect::initialize() {
  addInterfaces<Inliner>();
  addInterface(bytecodeInterface(this));
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

void HalftoneDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  populateExactRewrites(patterns);
  populateWhenRewrites(patterns);
  populateIntegerRewrites(patterns);
  populateConstantFolding(patterns);
}

void registerDialects(DialectRegistry &registry) {
  registry.insert<HalftoneDialect, func::FuncDialect>();
  func::registerInlinerExtension(registry);
}

} // namespace halftone::dialect
