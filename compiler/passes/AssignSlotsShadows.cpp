// Kernels that recompute shadows.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlots.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

std::string refreshName(ShadowOp shadow) { return "refresh_" + shadow.getSymName().str(); }

Status addRefreshKernels(ModuleOp module) {
  SymbolTable symbols(module);
  for (ShadowOp shadow : llvm::to_vector(module.getOps<ShadowOp>())) {
    if (symbols.lookup(refreshName(shadow)))
      return Status(ErrorKind::compile_error, "@" + refreshName(shadow) +
                                                  ": the name is reserved for the kernel that recomputes shadow @" +
                                                  shadow.getSymName().str());
    OpBuilder builder(shadow);
    auto type = builder.getFunctionType(shadow.getBody().getArgumentTypes(), {shadow.getType()});
    auto kernel = KernelOp::create(builder, shadow.getLoc(), KernelKind::loop, refreshName(shadow), type, nullptr);
    IRMapping mapping;
    shadow.getBody().cloneInto(&kernel.getBody(), mapping);
    symbols.insert(kernel);
  }
  return Status::ok();
}

} // namespace halftone::compiler
