// The stages after the modules.
// SPDX-License-Identifier: Apache-2.0
#include "LateStages.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace halftone::compiler;

bool printLateStage(std::unique_ptr<llvm::MemoryBuffer> file, llvm::raw_ostream &out, mlir::DialectRegistry &registry,
                    Stage stage, CompileOptions options, halftone::Executable *executable) {
  mlir::MLIRContext context(registry);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return false;
  context.printOpOnDiagnostic(false);
  options.onStage = [&](Stage reached, std::string_view text) {
    if (reached == stage)
      out << text;
  };
  halftone::StatusOr<halftone::Executable> result = compile(*module, options);
  if (!result) {
    llvm::errs() << result.status().str() << "\n" << result.status().diagnostics();
    return false;
  }
  if (executable)
    *executable = *std::move(result);
  return true;
}
