// The command line for running, training, comparing and printing models, modules and saved plans.
// SPDX-License-Identifier: Apache-2.0
#include "Arguments.h"
#include "Commands.h"
#include "Output.h"
#include "UsageError.h"
#include "halftone/Model.h"
#include "mlir/Support/Timing.h"
#include "tools/shell/Streams.h"
#include "llvm/Support/raw_ostream.h"
#include <exception>
#include <fmt/format.h>
#include <map>
#include <new>

using namespace halftone;
using namespace halftone::tools;

static ExitCode run(int argc, char **argv) {
  Arguments arguments;
  const bool json = asksForJson(argc, argv);
  try {
    arguments = parseArguments(argc, argv);
    if (!arguments.notice.empty()) {
      print("{}", arguments.notice);
      return yes;
    }
    static const auto &commands = *new std::map<std::string, ExitCode (*)(const Arguments &)>{
        {"predict", predict}, {"evaluate", evaluate}, {"fit", fit},
        {"compare", compare}, {"emit", emit},         {"warm", warm}};
    mlir::DefaultTimingManager timing; // its destructor prints the times
    const bool wantsTimes = arguments.timing || arguments.timingPasses;
    timing.setEnabled(wantsTimes);
    mlir::TimingScope times = timing.getRootScope();
    arguments.times = wantsTimes ? &times : nullptr;
    return commands.at(arguments.command)(arguments);
  } catch (const NegativeAnswer &answer) {
    return reportNo(answer.what(), arguments.command, json);
  } catch (const UsageError &error) {
    return reportUsageError(error.what(), arguments.command, json);
  } catch (const Error &error) {
    return reportError(error, arguments.command, json);
  } catch (const std::bad_alloc &) {
    return reportError(Error(ErrorKind::device_error, "out of memory"), arguments.command, json);
  } catch (const std::exception &error) {
    return reportError(Error(ErrorKind::internal_error, error.what()), arguments.command, json);
  }
}

int main(int argc, char **argv) {
  openStandardStreams();
  set_output(writeError); // library warnings go to stderr; stdout has the answers
  const ExitCode code = run(argc, argv);
  llvm::errs().clear_error(); // LLVM would abort on an error left by --timing
  return finish("halftone-run", code);
}
