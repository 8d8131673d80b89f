// halftone-bytecode: prints the module in an MLIR bytecode file as text, with reduced privileges.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Passes.h"
#include "dialect/Dialect.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/IRDL/IRDLLoading.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/OpenFile.h"
#include "tools/shell/Confine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <unistd.h>

using namespace mlir;
using namespace halftone::tools;

namespace {

constexpr const char *usage = R"(halftone-bytecode [OPTIONS]

The tools start this program; the file is descriptor 3. It prints the module in generic form, with locations, or the reason why
it cannot be read. The caller verifies the module. Exit: 0, 1 for a file that cannot be read. mlir-opt's options about dialects
apply: --allow-unregistered-dialect, --load-dialect-plugin, --irdl-file.
)";

/// Registers the dialects of an IRDL file, whose text the caller must have checked.
LogicalResult loadIrdl(const MlirOptMainConfig &config, MLIRContext &context, OwningOpRef<ModuleOp> &dialects) {
  if (config.getIrdlFile().empty())
    return success();
  const halftone::StatusOr<std::string> text =
      halftone::readFile(config.getIrdlFile().str(), halftone::detail::maxModuleBytes);
  if (!text)
    return emitError(UnknownLoc::get(&context)) << text.status().message();
  dialects = parseSourceString<ModuleOp>(*text, ParserConfig(&context), config.getIrdlFile());
  return dialects ? irdl::loadDialects(*dialects) : failure();
}

/// Prints the file's single op.
LogicalResult printFile(MLIRContext &context) {
  auto file = llvm::MemoryBuffer::getOpenFile(fileDescriptor, "bytecode", -1);
  if (!file)
    return emitError(UnknownLoc::get(&context)) << file.getError().message();
  if (!confine(2 * (*file)->getBufferSize(), 0))
    return emitError(UnknownLoc::get(&context)) << refusedLimits;
  Block top;
  FallbackAsmResourceMap resources;
  const ParserConfig config(&context, /*verifyAfterParse=*/false, &resources);
  if (failed(readBytecodeFile(**file, &top, config)))
    return failure();
  if (top.empty() || &top.front() != &top.back())
    return emitError(UnknownLoc::get(&context)) << "expected a single top-level op";
  Operation *module = &top.front();
  module->remove(); // MLIR prints no aliases for an op inside a block
  AsmState state(module, OpPrintingFlags().enableDebugInfo().printGenericOpForm(), nullptr, &resources);
  module->print(llvm::outs(), state);
  llvm::outs() << "\n";
  return success();
}

int run(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  halftone::compiler::registerStageDialects(registry);
  MlirOptMainConfig::registerCLOptions(registry);
  llvm::cl::ParseCommandLineOptions(argc, argv, usage);
  const MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  std::string reason;
  const ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> dialects;
  const bool read = succeeded(loadIrdl(config, context, dialects)) && succeeded(printFile(context));
  if (!read)
    llvm::outs() << reason;
  llvm::outs().flush();
  // Skips destructors: a rejected file may have corrupted the objects.
  _exit(read && !llvm::outs().has_error() ? 0 : 1);
}

} // namespace

int main(int argc, char **argv) { return run(argc, argv); }
