// The passes of Passes.td: a create function and a registration for each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace halftone::compiler {

/// The module that a pass accepts: one in a stage, or one between stage cast and stage pure, where state is arguments
/// and results and gradients remain.
enum class PassInput { graph, cast, lifted, pure, kernel, any };

/// A pass on modules. Before its own work it checks that the module is a valid input: layers occur only in stage graph,
/// `read` and `assign` up to stage cast, gradients up to `lifted`, ops of kernels from stage kernel on, and so on.
/// Otherwise the pass fails with one error that names the pass, the op and the stage, and changes nothing.
class StagePass : public mlir::OperationPass<mlir::ModuleOp> {
protected:
  /// `leaves`: the pass moves the module to another stage, or out of any, so a declared stage (`halftone.stage`) is
  /// removed.
  StagePass(mlir::TypeID id, PassInput input, bool leaves) : OperationPass(id), input(input), leaves(leaves) {}
  StagePass(const StagePass &) = default;
  void runOnOperation() final;
  /// The pass's own work.
  virtual void runOnModule() = 0;

private:
  const PassInput input;
  const bool leaves;
};

/// StagePass as named in Passes.td.
template <PassInput taken, bool leavesStage = false> class PassOn : public StagePass {
protected:
  explicit PassOn(mlir::TypeID id) : StagePass(id, taken, leavesStage) {}
  PassOn(const PassOn &) = default;
};

/// Registers the dialects of modules in any stage, in text or bytecode: `halftone` and func, those of linalg forms, and
/// those of targets, which define the schedules of kernels. Every tool that parses modules calls this.
void registerStageDialects(mlir::DialectRegistry &registry);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace halftone::compiler
