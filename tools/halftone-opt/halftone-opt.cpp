// mlir-opt for this project: every pass by its flag, and the stock pipeline between two stages.
// SPDX-License-Identifier: Apache-2.0
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
                                    clEnumValN(Stage::kernel, "kernel", "launches of kernels")));
enum class Numerics { fast, strict };
cl::opt<Numerics> numerics("numerics", cl::desc("How much may be fused"), cl::init(Numerics::fast), cl::cat(category),
                           cl::values(clEnumValN(Numerics::fast, "fast", "values may stay wider inside a kernel"),
                                      clEnumValN(Numerics::strict, "strict", "one op a kernel, every op rounds")));

CompileOptions compileOptions() {
  CompileOptions options;
  options.strict = numerics == Numerics::strict;
  options.verifyStages = true;
  return options;
}

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
  if (!startFrom.getNumOccurrences() && !stopAfter.getNumOccurrences())
    return;
  config.setPassPipelineSetupFn([](mlir::PassManager &passes) {
    Stage to = stopAfter.getNumOccurrences() ? stopAfter : Stage::kernel;
    if (startFrom > to) {
      llvm::errs() << "halftone-opt: --start-from=" << name(startFrom) << " comes after --stop-after=" << name(to)
                   << "\n";
      return mlir::failure();
    }
    buildPipeline(passes, startFrom, to, compileOptions());
    return mlir::success();
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
  if (failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config)))
    return 1;
  out->keep();
  return 0;
}
