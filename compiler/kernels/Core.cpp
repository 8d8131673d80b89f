// Calls of cores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Core.h"

namespace halftone::compiler {
using namespace mlir;

ValueRange callCore(ImplicitLocOpBuilder &builder, const Core &core, ValueRange operands, TypeRange results,
                    func::FuncOp caller, std::vector<Core> &cores) {
  if (llvm::none_of(cores, [&](const Core &each) { return each.symbol == core.symbol; })) {
    const OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(caller);
    func::FuncOp::create(builder, core.symbol, builder.getFunctionType(TypeRange(operands), results)).setPrivate();
    cores.push_back(core);
  }
  return func::CallOp::create(builder, core.symbol, results, operands).getResults();
}

} // namespace halftone::compiler
