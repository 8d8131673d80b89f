// The passes of Passes.td: one create function and one registration each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace halftone::compiler {

/// The module that a pass takes: one in a stage, or between stage cast and stage pure, where state is arguments and results
/// and gradients are still there.
enum class PassInput { graph, cast, lifted, pure, kernel, any };

/// A pass on modules. Before its own work it looks whether the module can be the pass's input: layers stand in stage graph alone,
/// `read` and `assign` up to stage cast, gradients up to `lifted`, ops of kernels from stage kernel on, and so on. If it cannot,
/// the pass fails with one error that names the pass, the op and the stage, and changes nothing.
class StagePass : public mlir::OperationPass<mlir::ModuleOp> {
protected:
  /// `leaves`: after the pass the module is in another stage, or in none, so a declared stage (`halftone.stage`) goes away.
  StagePass(mlir::TypeID id, PassInput input, bool leaves) : OperationPass(id), input(input), leaves(leaves) {}
  StagePass(const StagePass &) = default;
  void runOnOperation() final;
  /// The pass's own work.
  virtual void runOnModule() = 0;

private:
  const PassInput input;
  const bool leaves;
};

/// StagePass as Passes.td names it.
template <PassInput taken, bool leavesStage = false> class PassOn : public StagePass {
protected:
  explicit PassOn(mlir::TypeID id) : StagePass(id, taken, leavesStage) {}
  PassOn(const PassOn &) = default;
};

/// Registers the dialects of modules in any stage, in text or bytecode: `halftone` and func; those of linalg forms; those of
/// targets, to which the schedules of kernels belong. Every tool that parses modules calls this.
void registerStageDialects(mlir::DialectRegistry &registry);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace halftone::compiler
