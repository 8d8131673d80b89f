// Instruments passes to detect how they end.
// SPDX-License-Identifier: Apache-2.0
#include "PassFailures.h"
#include "PassName.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "tools/shell/Streams.h"
#include <cstdlib>
#include <exception>
#include <string>
#include <unistd.h>
#include <vector>

using namespace mlir;
using halftone::tools::printError;

namespace {

/// A running pass. The passes that an adaptor runs are above it on the stack.
struct Running {
  Pass *pass;
  size_t errors, ofPasses; // counts when it started
};
std::vector<Running> &running() {
  static auto &running = *new std::vector<Running>; // never destroyed: a pass may end the process
  return running;
}
std::string runningPass() { return running().empty() ? "" : nameOf(running().back().pass).str(); }

[[noreturn]] void endWith(int code, const std::string &message) {
  printError("halftone-opt: {}\n", message);
  ::_exit(code);
}

int codeOfRefusal = 1;

/// Called by exit().
void onExit(int status, void *) {
  if (const std::string pass = runningPass(); !pass.empty() && status == 0)
    endWith(codeOfRefusal, pass + " ended the process with exit(0)");
}

/// Called for an uncaught exception.
[[noreturn]] void onTerminate() {
  const std::string pass = runningPass();
  const std::string subject = pass.empty() ? "the process" : pass;
  if (!std::current_exception())
    std::abort();
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception &error) {
    endWith(codeOfRefusal, subject + " threw an exception: " + error.what());
  } catch (...) {
    endWith(codeOfRefusal, subject + " threw an exception");
  }
}

class PassFailures : public PassInstrumentation {
public:
  PassFailures(MLIRContext *context, bool expectsErrors, bool *failed)
      : expectsErrors(expectsErrors), failed(failed), handler(context, [this](Diagnostic &diagnostic) {
          const bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
          errors += isError;
          ofPasses += isError && !StringRef(diagnostic.str()).starts_with("--check-passes: ");
          return failure(); // other handlers must see it too
        }) {}

private:
  void runBeforePass(Pass *pass, Operation *) override { running().push_back({pass, errors, ofPasses}); }
  void runAfterPass(Pass *pass, Operation *op) override {
    const Running ended = running().back();
    running().pop_back();
    if (ended.ofPasses == ofPasses || runsOthers(pass) || expectsErrors || *failed)
      return;
    *failed = true;
    emitError(op->getLoc()) << "the pass " << nameOf(pass) << " emitted an error but did not fail";
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    const Running ended = running().back();
    running().pop_back();
    if (ended.errors == errors)
      emitError(op->getLoc()) << "the pass " << nameOf(pass) << " failed without a diagnostic";
  }

  const bool expectsErrors;
  bool *const failed;
  size_t errors = 0, ofPasses = 0; // ofPasses: without errors of --check-passes
  ScopedDiagnosticHandler handler;
};

} // namespace

void watchFailures(PassManager &passes, bool expectsErrors, bool *failed, int refused) {
  codeOfRefusal = refused;
  passes.getContext()->disableMultithreading();
  static const bool isWatching = ::on_exit(onExit, nullptr) == 0 && std::set_terminate(onTerminate);
  (void)isWatching;
  passes.addInstrumentation(std::make_unique<PassFailures>(passes.getContext(), expectsErrors, failed));
}
