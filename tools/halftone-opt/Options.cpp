// Declares the stock pipeline's options beside mlir-opt's.
// SPDX-License-Identifier: Apache-2.0
#include "Options.h"
#include "halftone/Version.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/shell/Streams.h"
#include "tools/shell/TargetNames.h"
#include "llvm/Config/llvm-config.h"

using namespace halftone::compiler;
namespace cl = llvm::cl;

namespace halftone::tools {
namespace {

const char *const exitCodes = "\nExit codes: 0 done, 1 bad input or usage, or a check that failed, 3 output that could "
                              "not be written, 5 bug in Halftone.\n";

/// Hides or removes the options that LLVM's libraries declare when they are loaded: those of the code generator and the
/// optimizer, and a --stop-after.
cl::OptionCategory &withoutLlvmsOptions(cl::OptionCategory &category) {
  for (auto &entry : cl::getRegisteredOptions())
    entry.second->setHiddenFlag(cl::Hidden);
  for (const char *name : {"start-from", "stop-after", "target", "numerics"})
    if (auto found = cl::getRegisteredOptions().find(name); found != cl::getRegisteredOptions().end())
      found->second->removeArgument();
  for (const char *name : {"help", "help-hidden", "version"})
    if (auto found = cl::getRegisteredOptions().find(name); found != cl::getRegisteredOptions().end())
      found->second->setHiddenFlag(cl::NotHidden);
  return category;
}

} // namespace

StockOptions::StockOptions()
    : category("The stock pipeline"),
      startFrom("start-from", cl::desc("Stage of the input (default: graph)"), cl::init(Stage::graph),
                cl::cat(withoutLlvmsOptions(category)),
                cl::values(clEnumValN(Stage::graph, "graph", "as traced"),
                           clEnumValN(Stage::cast, "cast", "all casts explicit, no layers"),
                           clEnumValN(Stage::pure, "pure", "state as values, gradients resolved"),
                           clEnumValN(Stage::kernel, "kernel", "launches of kernels"))),
      stopAfter("stop-after", cl::desc("Run the stock pipeline up to this stage"), cl::cat(category),
                cl::values(clEnumValN(Stage::graph, "graph", "only check the input"),
                           clEnumValN(Stage::cast, "cast", "all casts explicit, no layers"),
                           clEnumValN(Stage::pure, "pure", "state as values, gradients resolved"),
                           clEnumValN(Stage::kernel, "kernel", "launches of kernels"),
                           clEnumValN(Stage::linalg, "linalg", "each kernel as linalg on tensors (text)"),
                           clEnumValN(Stage::plan, "plan", "slots and steps (text)"),
                           clEnumValN(Stage::target, "target", "assembly of the kernels (text)"))),
      numerics("numerics", cl::desc("How much may be fused (default: the module's, or fast)"), cl::init(Numerics::fast),
               cl::cat(category),
               cl::values(clEnumValN(Numerics::fast, "fast", "values may stay wider inside a kernel"),
                          clEnumValN(Numerics::strict, "strict", "one op per kernel, every op rounds"))),
      target("target", cl::cat(category), cl::init("host"), cl::value_desc("TARGET"),
             cl::desc("Target of the kernels (default: the module's, or host): " HALFTONE_TARGET_NAMES)),
      maxStandaloneCasts("max-standalone-casts", cl::cat(category), cl::value_desc("N"),
                         cl::desc("Fail if the kernel stage has more than N standalone casts")),
      castLedgerFile("cast-ledger", cl::cat(category), cl::value_desc("FILE.json"),
                     cl::desc("Write the casts of the kernel stage to a file, or to stdout (-)")),
      explainFusion(
          "explain-fusion", cl::cat(category),
          cl::desc("Print before the module, as comments, which rules formed each kernel of the kernel stage, and "
                   "why other kernels stayed apart")),
      checkPasses("check-passes", cl::cat(category),
                  cl::desc("Interpret the module before and after each pass, and compare")) {}

bool StockOptions::reportsCasts() const {
  return castLedgerFile.getNumOccurrences() || maxStandaloneCasts.getNumOccurrences();
}

bool StockOptions::runsStock() const {
  return startFrom.getNumOccurrences() || stopAfter.getNumOccurrences() || reportsCasts() || explainFusion;
}

Stage StockOptions::last() const { return stopAfter.getNumOccurrences() ? stopAfter.getValue() : Stage::kernel; }

CompileOptions StockOptions::compileOptions() const {
  CompileOptions options;
  options.from = startFrom;
  if (target.getNumOccurrences())
    options.target = target;
  options.cacheDirectory = "none";
  if (maxStandaloneCasts.getNumOccurrences())
    options.maxStandaloneCasts = maxStandaloneCasts;
  if (numerics.getNumOccurrences())
    options.numerics = compiler::Numerics::strictIf(numerics == Numerics::strict);
  options.explainFusion = explainFusion;
  options.verifyStages = true;
  return options;
}

int timesGiven(llvm::StringRef option) {
  auto found = cl::getRegisteredOptions().find(option);
  return found == cl::getRegisteredOptions().end() ? 0 : found->second->getNumOccurrences();
}

std::string StockOptions::contradiction() const {
  if (!runsStock()) {
    for (const llvm::cl::Option *option :
         {static_cast<const cl::Option *>(&numerics), static_cast<const cl::Option *>(&target)})
      if (option->getNumOccurrences())
        return fmt::format(
            "--{} applies to the stock pipeline; expected --stop-after, --start-from, --explain-fusion or a "
            "cast report with it",
            option->ArgStr.str());
    return "";
  }
  const std::string to(name(last()));
  if (maxStandaloneCasts.getNumOccurrences() && maxStandaloneCasts < 0)
    return fmt::format("--max-standalone-casts={}: expected a number of casts", maxStandaloneCasts.getValue());
  if (startFrom > last())
    return fmt::format("--start-from={} comes after --stop-after={}", name(startFrom), to);
  if (reportsCasts() && last() < Stage::kernel)
    return fmt::format("--cast-ledger and --max-standalone-casts report on stage kernel, but --stop-after={}", to);
  if (explainFusion && last() != Stage::kernel)
    return fmt::format("--explain-fusion reports on stage kernel, but --stop-after={}", to);
  if (explainFusion && startFrom == Stage::kernel)
    return "--explain-fusion reports on kernel formation, but --start-from=kernel comes after it";
  if (explainFusion && timesGiven("emit-bytecode"))
    return "--explain-fusion prints comments; expected no --emit-bytecode with it";
  if (castLedgerFile.getNumOccurrences() && timesGiven("split-input-file"))
    return "--cast-ledger holds the casts of one module; expected no -split-input-file with it";
  for (const char *other : {"pass-pipeline", "run-reproducer"})
    if (timesGiven(other))
      return fmt::format(
          "--{} conflicts with --stop-after, --start-from, --explain-fusion and cast reports, which run the "
          "stock pipeline; expected one of them",
          other);
  for (const char *other : {"emit-bytecode", "output-split-marker", "mlir-elide-elementsattrs-if-larger",
                            "mlir-elide-resource-strings-if-larger"})
    if (last() > Stage::kernel && timesGiven(other))
      return fmt::format("--{} applies to modules, but --stop-after={} prints text", other, to);
  return "";
}

bool printsNotice(const std::vector<std::string> &arguments, const std::string &header) {
  for (llvm::StringRef argument : llvm::ArrayRef(arguments).drop_front()) {
    const bool dashed = argument.consume_front("--") || argument.consume_front("-");
    const bool isHelp = argument == "h" || argument == "help" || argument == "help-hidden" || argument == "help-list" ||
                        argument == "help-list-hidden";
    if (!dashed || (!isHelp && argument != "version"))
      continue;
    if (!isHelp) {
      print("halftone-opt {} (LLVM {})\n", version(), LLVM_VERSION_STRING);
      return true;
    }
    std::string program = arguments[0];
    char *alone[] = {program.data(), nullptr};
    (void)mlir::parseCLIOptions(1, alone, header); // sets the program's name for the help
    cl::PrintHelpMessage(argument.contains("hidden"), !argument.contains("list"));
    llvm::outs() << exitCodes;
    return true;
  }
  return false;
}

} // namespace halftone::tools
