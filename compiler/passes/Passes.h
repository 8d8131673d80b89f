// The passes of Passes.td: one create function and one registration each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace halftone::compiler {

/// A pass after which the module is in another stage, or in none: a declared stage (`halftone.stage`) goes away first.
class BorderPass : public mlir::OperationPass<mlir::ModuleOp> {
protected:
  using OperationPass::OperationPass;
  void runOnOperation() final {
    getOperation()->removeAttr(dialect::stageAttr);
    cross();
  }
  /// The pass's own work.
  virtual void cross() = 0;
};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace halftone::compiler
