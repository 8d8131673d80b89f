// mlir-opt for this project: every pass by its flag, and the stock pipeline between two stages.
// SPDX-License-Identifier: Apache-2.0
#include "CheckPasses.h"
#include "LateStages.h"
#include "compiler/Ledger.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Pipelines.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include <string>
#include <vector>

using namespace halftone::compiler;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("Halftone: the stock pipeline");

cl::opt<Stage> startFrom("halftone-start-from", cl::desc("Stage of the input (default: graph)"), cl::init(Stage::graph),
                         cl::cat(category),
                         cl::values(clEnumValN(Stage::graph, "graph", "as traced"),
                                    clEnumValN(Stage::cast, "cast", "all casts explicit, no layers"),
                                    clEnumValN(Stage::pure, "pure", "state is values, gradients resolved"),
                                    clEnumValN(Stage::kernel, "kernel", "launches of kernels")));
cl::opt<Stage> stopAfter("halftone-stop-after", cl::desc("Run the stock pipeline up to this stage"), cl::cat(category),
                         cl::values(clEnumValN(Stage::graph, "graph", "only check the input"),
                                    clEnumValN(Stage::cast, "cast", "all casts explicit, no layers"),
                                    clEnumValN(Stage::pure, "pure", "state is values, gradients resolved"),
                                    clEnumValN(Stage::kernel, "kernel", "launches of kernels"),
                                    clEnumValN(Stage::linalg, "linalg", "each kernel as linalg on tensors (text)"),
                                    clEnumValN(Stage::plan, "plan", "slots and steps (text)"),
                                    clEnumValN(Stage::target, "target", "assembly of the kernels (text)")));
enum class Numerics { fast, strict };
cl::opt<Numerics> numerics("numerics", cl::desc("How much may be fused"), cl::init(Numerics::fast), cl::cat(category),
                           cl::values(clEnumValN(Numerics::fast, "fast", "values may stay wider inside a kernel"),
                                      clEnumValN(Numerics::strict, "strict", "one op a kernel, every op rounds")));

cl::opt<std::string> target("target", cl::cat(category), cl::init("host"), cl::value_desc("TARGET"),
                            cl::desc("What linalg, plan and target are made for: host, x86-64-v3, x86-64-v4, ..."));
cl::opt<int64_t> maxStandaloneCasts("max-standalone-casts", cl::cat(category), cl::value_desc("N"),
                                    cl::desc("Fail when more than N casts of the kernel stage are kernels of their own"));
cl::opt<std::string> castLedgerFile("cast-ledger", cl::cat(category), cl::value_desc("FILE.json"),
                                    cl::desc("Write the casts of the kernel stage to a file"));

cl::opt<bool> checkPasses("check-passes", cl::cat(category),
                          cl::desc("Interpret the module before and after each pass, and compare"));

CompileOptions compileOptions() {
  CompileOptions options;
  options.from = startFrom;
  options.target = target;
  options.cacheDirectory = "none";
  if (maxStandaloneCasts.getNumOccurrences())
    options.maxStandaloneCasts = maxStandaloneCasts;
  options.strict = numerics == Numerics::strict;
  options.verifyStages = true;
  return options;
}

bool writeLedger(const std::vector<halftone::LedgerRow> &rows) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> out = mlir::openOutputFile(castLedgerFile, &error);
  if (!out) {
    llvm::errs() << "halftone-opt: " << error << "\n";
    return false;
  }
  out->os() << ledgerJson(rows) << "\n";
  out->keep();
  return true;
}

/// Writes the ledger and checks the budget, at the end of the pipeline.
class ReportCasts : public mlir::PassWrapper<ReportCasts, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportCasts)

private:
  mlir::StringRef getName() const override { return "report-casts"; }
  void runOnOperation() override {
    std::vector<halftone::LedgerRow> rows = castLedger(getOperation());
    if (castLedgerFile.getNumOccurrences() && !writeLedger(rows))
      return signalPassFailure();
    if (halftone::Status status = checkCastBudget(rows, compileOptions()); !status) {
      getOperation().emitError() << status.message() << "\n" << status.diagnostics();
      signalPassFailure();
    }
  }
};

/// --start-from and --stop-after by their long names: LLVM's code generator has taken the short ones.
std::vector<std::string> withLongNames(int argc, char **argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (std::string &argument : arguments)
    for (llvm::StringRef flag : {"start-from", "stop-after"}) {
      llvm::StringRef given(argument);
      bool dashed = given.consume_front("--") || given.consume_front("-");
      if (dashed && (given == flag || given.starts_with((flag + "=").str())))
        argument = ("--halftone-" + given).str();
    }
  return arguments;
}

/// The stock pipeline when a stage is named on the command line, else the passes named there.
void choosePipeline(mlir::MlirOptMainConfig &config) {
  bool reports = castLedgerFile.getNumOccurrences() || maxStandaloneCasts.getNumOccurrences();
  if (!startFrom.getNumOccurrences() && !stopAfter.getNumOccurrences() && !reports)
    return;
  config.setPassPipelineSetupFn([reports](mlir::PassManager &passes) {
    Stage to = stopAfter.getNumOccurrences() ? stopAfter : Stage::kernel;
    if (startFrom > to) {
      llvm::errs() << "halftone-opt: --start-from=" << name(startFrom) << " comes after --stop-after=" << name(to)
                   << "\n";
      return mlir::failure();
    }
    if (reports && to < Stage::kernel) {
      llvm::errs() << "halftone-opt: --cast-ledger and --max-standalone-casts ask about stage kernel, but "
                      "--stop-after="
                   << name(to) << "\n";
      return mlir::failure();
    }
    buildPipeline(passes, startFrom, to, compileOptions());
    if (reports)
      passes.addPass(std::make_unique<ReportCasts>());
    return mlir::success();
  });
}

/// --stop-after=linalg, plan or target.
bool runToLateStage(std::unique_ptr<llvm::MemoryBuffer> file, llvm::raw_ostream &out, mlir::DialectRegistry &registry) {
  halftone::Executable executable;
  return printLateStage(std::move(file), out, registry, stopAfter, compileOptions(), &executable) &&
         (!castLedgerFile.getNumOccurrences() || writeLedger(executable.ledger));
}

/// The pipeline chosen before, with --check-passes around it.
void checkEachPass(mlir::MlirOptMainConfig &config, bool *differed) {
  config.setPassPipelineSetupFn([chosen = config, differed](mlir::PassManager &passes) {
    addPassChecks(passes, differed);
    return chosen.setupPassPipeline(passes);
  });
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  halftone::dialect::registerDialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  registerHalftonePasses();
  mlir::registerTransformsPasses();
  std::vector<std::string> arguments = withLongNames(argc, argv);
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  auto [input, output] = mlir::registerAndParseCLIOptions(static_cast<int>(pointers.size()), pointers.data(),
                                                          "Halftone's passes and pipelines\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  choosePipeline(config);
  bool differed = false;
  if (checkPasses)
    checkEachPass(config, &differed);

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  if (!file) {
    llvm::errs() << "halftone-opt: " << error << "\n";
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> out = mlir::openOutputFile(output, &error);
  if (!out) {
    llvm::errs() << "halftone-opt: " << error << "\n";
    return 1;
  }
  bool late = stopAfter.getNumOccurrences() && stopAfter > Stage::kernel;
  bool done = late ? runToLateStage(std::move(file), out->os(), registry)
                   : succeeded(mlir::MlirOptMain(out->os(), std::move(file), registry, config)) && !differed;
  if (!done)
    return 1;
  out->keep();
  return 0;
}
