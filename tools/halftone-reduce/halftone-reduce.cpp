// Reduces a module that shows a failure, for a bug report.
// SPDX-License-Identifier: Apache-2.0
#include "CLI/CLI.hpp"
#include "Probe.h"
#include "Reducer.h"
#include "compiler/passes/Passes.h"
#include "compiler/reports/Diagnostics.h"
#include "dialect/Dialect.h"
#include "halftone/Version.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/base/WriteFile.h"
#include "tools/shell/ModuleFileText.h"
#include "tools/shell/OptionRules.h"
#include "tools/shell/OutputFile.h"
#include "tools/shell/Streams.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <exception>
#include <new>

using namespace halftone;
using namespace halftone::tools;

namespace {

enum ExitCode { done = 0, no = 1, badUsage = 2, badInput = 3, bug = 5 };

struct Arguments {
  std::string input, output = "-";
  Question question;
};

void declare(CLI::App &app, Arguments &arguments) {
  Question &question = arguments.question;
  app.footer(
      "Exit codes: 0 done, 1 no (the module does not fail), 2 bad usage, 3 bad input or an output that could not be "
      "written, 5 bug in Halftone.");
  app.set_version_flag("--version", std::string("halftone-reduce ") + version());
  app.add_option("MODULE", arguments.input, "A .mlir module in text or bytecode, or - for stdin")->required();
  auto *test =
      app.add_option("--test", question.script,
                     "A program that takes the file of a module as its last argument, and exits with 1 if the module "
                     "still fails, otherwise with 0");
  app.add_option("--test-arg", question.arguments, "With --test: an argument before the file; may be repeated")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->needs(test);
  auto *command = app.add_option("--command", question.command,
                                 "A shell command in which %s stands for the file of a module; --says, --exits or both "
                                 "determine whether the module still fails")
                      ->excludes(test);
  app.add_option("--says", question.says, "With --command: the output contains this text")->needs(command);
  app.add_option("--exits", question.code, "With --command: the exit code; 128 plus the signal for a crash")
      ->check(CLI::Range(0, 255))
      ->needs(command);
  app.add_option("-o", arguments.output, "The file for the reduced module, or - for stdout")->capture_default_str();
}

/// A message about options that do not define a test, or "".
std::string faultOf(const Arguments &arguments) {
  const Question &question = arguments.question;
  if (question.script.empty() && question.command.empty())
    return "expected --test or --command, which determine whether a module still fails";
  if (!question.script.empty())
    return "";
  if (question.says.empty() && !question.code)
    return "--command: expected --says, --exits or both, which determine whether the module still fails";
  if (question.command.find("%s") == question.command.npos)
    return fmt::format("--command: expected %s, which is replaced by the file of a module; got '{}'", question.command);
  if (question.says.find('\n') != question.says.npos)
    return "--says: expected one line of text";
  return "";
}

ExitCode tell(const Status &status) {
  if (const Where where = status.where(); *where.file)
    printError("{}:{}: error: {}\n", where.file, where.line, status.message());
  else
    printError("halftone-reduce: {}\n", status.message());
  return badInput;
}

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> parse(mlir::MLIRContext &context, const std::string &path) {
  const StatusOr<std::string> text = loadModuleText(path);
  HALFTONE_RETURN_IF_ERROR(text.status());
  compiler::DiagnosticCollector collector(&context);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(*text, mlir::ParserConfig(&context), path == "-" ? "<stdin>" : path);
  if (!module)
    return collector.toStatus("this is not an MLIR module", ErrorKind::value_error);
  return module;
}

ExitCode write(const std::string &path, mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  if (path == "-")
    writeOut(text);
  else if (const Status status = writeFile(path, {text}); !status)
    return tell(status);
  return done;
}

/// Writes the smallest module that failed before the fault, so that the work so far is not lost.
ExitCode writeUnfinished(const std::string &path, mlir::ModuleOp module, const Status &fault) {
  if (write(path, module) != done)
    return tell(fault);
  return tell({fault.kind(), fmt::format("{}; {} has the smallest module so far, of {} ops", fault.message(),
                                         path == "-" ? "stdout" : path, countOps(module))});
}

ExitCode reduceFile(const Arguments &arguments) {
  mlir::DialectRegistry registry;
  compiler::registerStageDialects(registry);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> module = parse(context, arguments.input);
  if (!module)
    return tell(module.status());
  if (const std::string fault = arguments.output == "-" ? "" : faultOfOutput(arguments.output); !fault.empty())
    return tell({ErrorKind::io_error, fault}); // before the run, whose result would be lost
  const StatusOr<std::unique_ptr<Probe>> created = Probe::create(arguments.question);
  if (!created)
    return tell(created.status());
  const Probe &probe = **created;
  const int64_t before = countOps(**module);
  const bool fails = probe.fails(**module);
  if (Status fault = probe.fault(); !fault)
    return tell(fault);
  if (!fails) {
    printError("halftone-reduce: {} does not fail, so there is nothing to reduce: the program {}\n", arguments.input,
               probe.lastAnswer());
    return no;
  }
  reduce(*module, probe);
  const bool failsAgain = probe.fault().isOk() && probe.failsAgain(**module);
  if (const Status fault = probe.fault(); !fault)
    return writeUnfinished(arguments.output, **module, fault);
  if (!failsAgain) {
    printError("halftone-reduce: the same module fails only sometimes; expected a program with the same answer each "
               "time. Finally it {}\n",
               probe.lastAnswer());
    return no;
  }
  printError("halftone-reduce: {} ops -> {} ops, {} tries\n", before, countOps(**module), probe.tries());
  return write(arguments.output, **module);
}

ExitCode refuse(const std::string &message) {
  printError("halftone-reduce: {}\nTry 'halftone-reduce --help'.\n", message);
  return badUsage;
}

ExitCode run(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Reduces a module that shows a failure.", "halftone-reduce");
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    if (const std::string fault = emptyValue(app); !fault.empty())
      return refuse(fault);
    if (const std::string fault = faultOf(arguments); !fault.empty())
      return refuse(fault);
    return reduceFile(arguments);
  } catch (const CLI::CallForHelp &) {
    print("{}", app.help());
    return done;
  } catch (const CLI::CallForVersion &call) {
    print("{}\n", call.what());
    return done;
  } catch (const CLI::ParseError &error) {
    return refuse(error.what());
  } catch (const std::exception &error) {
    printError("halftone-reduce: {}\n", error.what());
    return bug;
  }
}

} // namespace

int main(int argc, char **argv) {
  openStandardStreams();
  const ExitCode code = run(argc, argv);
  llvm::errs().clear_error(); // LLVM would abort on a pending error
  const int status = finish("halftone-reduce", code);
  if (const int signal = Probe::interruption()) { // the parent process sees how this one ended
    (void)std::signal(signal, SIG_DFL);
    (void)std::raise(signal);
  }
  return status;
}
