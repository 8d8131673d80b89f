// Kernels and their launches.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

static bool isDialectTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && (!tensor.getEncoding() || PanelsAttr::of(type));
}

LogicalResult KernelOp::verify() {
  auto type = dyn_cast<FunctionType>(getFunctionType());
  if (!type)
    return emitOpError() << "expects a function type, but got " << getFunctionType();
  for (Type each : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isDialectTensor(each))
      return emitOpError() << "expects operands and results of static shape, but got " << each;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  const FunctionType type = cast<FunctionType>(getFunctionType());
  Block &block = getBody().front();
  if (block.getArgumentTypes() != type.getInputs())
    return emitOpError() << "has a region whose arguments do not have the types of its inputs, " << type;
  Operation *yield = block.getTerminator();
  if (yield->getOperandTypes() != type.getResults())
    return emitOpError() << "has a region that does not yield the types of its results, " << type;
  for (Operation &op : block.without_terminator())
    if (!isMemoryEffectFree(&op) || (op.getNumRegions() && !isa<ScanOp>(op)) || isa<LaunchOp>(op))
      return op.emitOpError("is not legal in a kernel, whose ops must be pure and, except scans, have no regions");
  return verifyBlocks(*this);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "names " << getKernelAttr() << ", which is not a kernel";
  auto type = FunctionType::get(getContext(), getOperands().getTypes(), getOutputs().getTypes());
  if (kernel.getFunctionType() != type)
    return emitOpError() << "has the type " << type << ", but kernel " << getKernelAttr() << " has "
                         << kernel.getFunctionType();
  return success();
}

} // namespace halftone::dialect
