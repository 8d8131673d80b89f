// Language server for .mlir files, for this dialect and MLIR's own: diagnostics, those of stages too, hover, completion.
// SPDX-License-Identifier: Apache-2.0
#include "HoverDocs.h"
#include "compiler/passes/Passes.h"
#include "dialect/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

namespace {

const char *const reference =
#include "OpReference.inc"
    ;

/// The contract of the stage that a module declares, as the pass verify-stage checks it.
mlir::LogicalResult checkStage(mlir::Operation *module, llvm::StringRef stage) {
  mlir::PassManager passes(module->getContext(), module->getName().getStringRef());
  passes.enableVerifier(false); // which has called this
  passes.addPass(halftone::compiler::createVerifyStagePass({*halftone::compiler::stageNamed(stage.str())}));
  return passes.run(module);
}

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  halftone::dialect::registerDialects(registry);
  registry.addExtension(
      +[](mlir::MLIRContext *, halftone::dialect::HalftoneDialect *dialect) { dialect->setStageCheck(checkStage); });
  static const halftone::tools::HoverDocs docs(reference);
  halftone::tools::documentStdout(docs);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
