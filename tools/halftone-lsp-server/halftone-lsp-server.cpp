// Language server for .mlir files of this dialect and MLIR's own: diagnostics, including those of stages, hover, completion.
// SPDX-License-Identifier: Apache-2.0
#include "HoverDocs.h"
#include "Relay.h"
#include "compiler/passes/Passes.h"
#include "dialect/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/shell/Streams.h"
#include "llvm/Support/LSP/Protocol.h"
#include <cstdlib>
#include <unistd.h>

using namespace halftone::tools;

namespace {

const char *const reference =
#include "OpReference.inc"
    ;

/// Checks the contract of the stage that a module declares, as the pass verify-stage does.
mlir::LogicalResult checkStage(mlir::Operation *module, llvm::StringRef stage) {
  mlir::PassManager passes(module->getContext(), module->getName().getStringRef());
  passes.enableVerifier(false); // the verifier has called this
  passes.addPass(halftone::compiler::createVerifyStagePass({*halftone::compiler::stageNamed(stage.str())}));
  return passes.run(module);
}

/// Returns true if the options of MLIR's server request messages that end with a line "// -----".
bool asksForDelimiters(llvm::ArrayRef<char *> arguments) {
  bool style = false;
  for (llvm::StringRef argument : arguments) {
    const bool dashed = argument.consume_front("--") || argument.consume_front("-");
    if (dashed && (argument == "lit-test" || argument == "lit-test=true" || argument == "input-style=delimited"))
      return true;
    if (style && argument == "delimited")
      return true;
    style = dashed && argument == "input-style";
  }
  return false;
}

/// Ends the process, whether by return or by exit(), as --help does.
void end(int code, void *relay) {
  llvm::outs().flush();
  if (llvm::outs().has_error())
    rememberLoss(llvm::outs().error().message());
  for (llvm::raw_fd_ostream *stream : {&llvm::outs(), static_cast<llvm::raw_fd_ostream *>(&llvm::errs())})
    stream->clear_error(); // LLVM would abort on a pending error
  static_cast<Relay *>(relay)->finish();
  _exit(finish("halftone-lsp-server", code)); // a thread may still be blocked on the editor
}

} // namespace

int main(int argc, char **argv) {
  openStandardStreams();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  halftone::compiler::registerStageDialects(registry);
  registry.addExtension(
      +[](mlir::MLIRContext *, halftone::dialect::HalftoneDialect *dialect) { dialect->setStageCheck(checkStage); });
  llvm::outs(); // constructed before end() is registered, so that it outlives end()
  llvm::errs();
  const bool delimited = asksForDelimiters(llvm::ArrayRef(argv, argc));
  if (delimited) // MLIR's server registers it too, but the gate's thread may be looking up schemes then
    llvm::lsp::URIForFile::registerSupportedScheme("test");
  on_exit(end, new Relay(HoverDocs(reference), delimited));
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
