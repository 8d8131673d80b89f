// lower-to-linalg: halftone.kernel @k { ... } becomes module @k { func.func @kernel ... linalg.generic ... }.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/KernelDescription.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "compiler/passes/Passes.h.inc"

namespace {

struct LowerToLinalg : impl::LowerToLinalgPassBase<LowerToLinalg> {
  using LowerToLinalgPassBase::LowerToLinalgPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerToLinalgPassBase::getDependentDialects(registry);
    registerStageDialects(registry);
  }

  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, strict, Target::reference);
    if (failed(compiled))
      return signalPassFailure();
    if (getOperation().getOps<KernelOp>().empty()) {
      getOperation().emitError() << getArgument() << " expects a module in stage kernel, but the module has no kernel";
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody()->getOperations())) {
      if (auto kernel = dyn_cast<KernelOp>(op)) {
        FailureOr<KernelDescription> description = describeKernel(kernel, *compiled->target, compiled->numerics);
        if (failed(description))
          return signalPassFailure();
        ModuleOp module = description->module.release();
        module.setSymName(kernel.getSymName());
        module->setAttr("halftone.extents", builder.getDenseI64ArrayAttr(description->extents));
        module->setAttr("halftone.grid", builder.getI64IntegerAttr(description->grid));
        module->setAttr("halftone.scratch", builder.getI64IntegerAttr(description->scratchBytes));
        builder.setInsertionPoint(kernel);
        builder.insert(module);
      }
      op.erase();
    }
  }
};

} // namespace

void registerStageDialects(DialectRegistry &registry) {
  registerDialects(registry);
  registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>();
  Target::registerDialects(registry);
}

} // namespace halftone::compiler
