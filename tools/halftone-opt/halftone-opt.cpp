// mlir-opt for this project: runs any pass by its flag, or the stock pipeline between two stages.
// SPDX-License-Identifier: Apache-2.0
#include "CheckPasses.h"
#include "LateStages.h"
#include "Options.h"
#include "PassFailures.h"
#include "UpstreamOptions.h"
#include "compiler/CastBudget.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Pipelines.h"
#include "compiler/reports/FusionReport.h"
#include "compiler/reports/Ledger.h"
#include "compiler/reports/PassBlame.h"
#include "dialect/Dialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/base/WriteFile.h"
#include "tools/shell/ModuleFileText.h"
#include "tools/shell/Streams.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace halftone::compiler;
using namespace halftone::tools;

namespace {

enum ExitCode { done = 0, refused = 1, notWritten = 3, bug = 5 };

/// Writes a file, or stdout for "-". If that fails, prints the reason and returns false.
bool writeTo(const std::string &path, std::string_view text) {
  if (path == "-") {
    llvm::outs().flush();
    writeOut(text);
    return true;
  }
  const halftone::Status status = halftone::writeFile(path, {text});
  if (!status)
    printError("halftone-opt: {}\n", status.message());
  return status.isOk();
}

/// The results of a run besides modules.
struct Outcome {
  std::string lateText;
  bool differed = false, hadErrors = false, isBug = false, lostFile = false;
};

/// Writes the cast ledger and checks the budget of casts, at the end of the pipeline.
class ReportCasts : public mlir::PassWrapper<ReportCasts, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportCasts)
  ReportCasts(const StockOptions &options, Outcome &outcome) : options(options), outcome(outcome) {}

private:
  mlir::StringRef getName() const override { return "report-casts"; }
  void runOnOperation() override {
    std::vector<halftone::LedgerRow> rows = castLedger(getOperation());
    if (options.castLedgerFile.getNumOccurrences() && !writeTo(options.castLedgerFile, ledgerJson(rows) + "\n")) {
      outcome.lostFile = true;
      return signalPassFailure();
    }
    if (halftone::Status status = checkCastBudget(rows, options.compileOptions()); !status) {
      getOperation().emitError() << status.message() << "\n" << status.diagnostics();
      signalPassFailure();
    }
  }

  const StockOptions &options;
  Outcome &outcome;
};

/// Prints the fusion report at the end of the pipeline, before the module.
class ReportFusion : public mlir::PassWrapper<ReportFusion, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportFusion)
  explicit ReportFusion(llvm::raw_ostream &out) : out(out) {}

private:
  mlir::StringRef getName() const override { return "report-fusion"; }
  void runOnOperation() override { out << fusionText(fusionReport(getOperation())); }

  llvm::raw_ostream &out;
};

/// Chooses the stock pipeline if the command line names a stage, else the passes that it names. Modules are written to `out`.
void choosePipeline(mlir::MlirOptMainConfig &config, const StockOptions &options, Outcome &outcome,
                    llvm::raw_ostream &out) {
  if (!options.runsStock())
    return;
  config.setPassPipelineSetupFn([&, dump = config.shouldDumpPassPipeline()](mlir::PassManager &passes) {
    CompileOptions compile = options.compileOptions();
    buildPipeline(passes, options.startFrom, std::min(options.last(), Stage::kernel), compile);
    watchForBugs(passes, true, &outcome.isBug);
    if (options.reportsCasts())
      passes.addPass(std::make_unique<ReportCasts>(options, outcome));
    if (options.explainFusion)
      passes.addPass(std::make_unique<ReportFusion>(out));
    compile.maxStandaloneCasts.reset();
    if (options.isLate())
      passes.addPass(createLateStagePass(options.last(), compile, &outcome.lateText, &outcome.isBug));
    if (dump) {
      passes.dump();
      llvm::errs() << "\n";
    }
    return mlir::success();
  });
}

/// Puts --check-passes, if it is given, and the watch over passes that end badly around the chosen pipeline.
void watchEachPass(mlir::MlirOptMainConfig &config, bool checks, Outcome &outcome) {
  config.setPassPipelineSetupFn([chosen = config, checks, &outcome](mlir::PassManager &passes) {
    if (checks)
      addPassChecks(passes, &outcome.differed);
    const mlir::LogicalResult chose = chosen.setupPassPipeline(passes);
    watchFailures(passes, chosen.shouldVerifyDiagnostics(), &outcome.hadErrors, refused);
    return chose;
  });
}

void tell(const halftone::Status &status) {
  if (const halftone::Where where = status.where(); *where.file)
    printError("{}:{}: error: {}\n", where.file, where.line, status.message());
  else
    printError("halftone-opt: {}\n", status.message());
}

/// The options of this command line that decide which dialects bytecode may hold.
std::vector<std::string> dialectOptions(const mlir::MlirOptMainConfig &config) {
  std::vector<std::string> options;
  if (config.shouldAllowUnregisteredDialects())
    options.emplace_back("--allow-unregistered-dialect");
  if (!config.getIrdlFile().empty())
    options.push_back("--irdl-file=" + config.getIrdlFile().str());
  if (auto found = llvm::cl::getRegisteredOptions().find("load-dialect-plugin");
      found != llvm::cl::getRegisteredOptions().end())
    for (const std::string &plugin : *static_cast<llvm::cl::list<std::string> *>(found->second))
      options.push_back("--load-dialect-plugin=" + plugin);
  return options;
}

/// The text of the input file, after a check of the IRDL file, which MLIR reads by itself.
halftone::StatusOr<std::string> loadTexts(const mlir::MlirOptMainConfig &config, const std::string &input) {
  if (!config.getIrdlFile().empty())
    HALFTONE_RETURN_IF_ERROR(checkTextFile(config.getIrdlFile().str()));
  return loadModuleText(input, dialectOptions(config));
}

/// Runs the pipeline on a file and returns the exit code.
ExitCode process(const StockOptions &options, const std::vector<std::string> &arguments, const std::string &input,
                 const std::string &output, mlir::DialectRegistry &registry) {
  std::string error = faultOfUpstreamOptions(arguments);
  if (!error.empty()) {
    printError("halftone-opt: {}\n", error);
    return refused;
  }
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses()) {
    mlir::printRegisteredPasses();
    return done;
  }
  error = options.contradiction();
  // The flags of all passes belong to one option, so any pass's name finds it.
  if (error.empty() && options.runsStock() && timesGiven("halftone-simplify"))
    error = "passes conflict with --stop-after, --start-from, --explain-fusion and cast reports, which run the stock "
            "pipeline; expected one of them";
  if (halftone::Status status = checkTarget(options.target); error.empty() && !status)
    error = "--target: " + status.message();
  if (!error.empty()) {
    printError("halftone-opt: {}\n", error);
    return refused;
  }
  const halftone::StatusOr<std::string> text = loadTexts(config, input);
  if (!text) {
    tell(text.status());
    return refused;
  }
  Outcome outcome;
  std::string modules;
  llvm::raw_string_ostream out(modules);
  choosePipeline(config, options, outcome, out);
  watchEachPass(config, options.checkPasses, outcome);
  const bool succeeded =
      mlir::succeeded(mlir::MlirOptMain(out, llvm::MemoryBuffer::getMemBuffer(*text, input == "-" ? "<stdin>" : input),
                                        registry, config)) &&
      !outcome.differed && !outcome.hadErrors;
  const std::string &result = options.isLate() ? outcome.lateText : modules;
  // A run that failed writes no file, but stdout gets all text so far.
  if ((succeeded || output == "-") && !writeTo(output, result))
    return notWritten;
  return succeeded ? done : outcome.isBug ? bug : outcome.lostFile ? notWritten : refused;
}

ExitCode run(int argc, char **argv) {
  StockOptions options;
  mlir::DialectRegistry registry;
  registerStageDialects(registry);
  registerHalftonePasses();
  mlir::registerTransformsPasses();
  const std::string header = mlir::registerCLIOptions("Halftone's passes and pipelines\n", registry);
  const std::vector<std::string> arguments(argv, argv + argc);
  if (printsNotice(arguments, header))
    return done;
  watchPlugins(registry);
  auto [input, output] = mlir::parseCLIOptions(argc, argv, header);
  return process(options, arguments, input, output, registry);
}

} // namespace

int main(int argc, char **argv) {
  openStandardStreams();
  llvm::InitLLVM init(argc, argv);
  const ExitCode code = run(argc, argv);
  llvm::outs().flush();
  if (llvm::outs().has_error())
    rememberLoss(llvm::outs().error().message());
  for (llvm::raw_fd_ostream *stream : {&llvm::outs(), static_cast<llvm::raw_fd_ostream *>(&llvm::errs())})
    stream->clear_error(); // with an error left, LLVM would abort
  return finish("halftone-opt", code);
}
