// Determines which pass failed, and whether a pass left invalid IR.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/PassBlame.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/STLExtras.h"
#include <string>
#include <vector>

using namespace mlir;

namespace halftone::compiler {
namespace {

std::string textOf(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream(text) << diagnostic.getLocation() << ": " << diagnostic.str();
  return text;
}

class PassBlame : public PassInstrumentation {
public:
  PassBlame(MLIRContext *context, bool checksInput, bool *isBug)
      : checksInput(checksInput), isBug(isBug), handler(context, [this](Diagnostic &diagnostic) {
          errors.push_back(textOf(diagnostic));
          return failure(); // passes the diagnostic on to other handlers
        }) {}

private:
  void runBeforePass(Pass *pass, Operation *op) override {
    passes += !pass->getArgument().empty(); // excludes the passes of a tool
    errors.clear();
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    const bool isCheck = checksInput && passes == 1 && pass->getArgument() == "halftone-verify-stage";
    const bool isOurs = !pass->getArgument().empty(); // a tool's passes have no command-line name
    const bool mayRefuse =
        isCheck || !isOurs ||
        llvm::is_contained({"halftone-differentiate", "halftone-attach-target"}, pass->getArgument());
    *isBug |= !mayRefuse || leftInvalid(op);
  }
  /// Returns true if MLIR's verifier emitted the errors after the pass, in which case it emits one of them again now.
  bool leftInvalid(Operation *op) const {
    bool same = false;
    ScopedDiagnosticHandler found(op->getContext(), [&](Diagnostic &diagnostic) {
      same |= llvm::is_contained(errors, textOf(diagnostic));
      return success();
    });
    return failed(verify(op)) && same;
  }

  const bool checksInput;
  bool *const isBug;
  int passes = 0;
  std::vector<std::string> errors; // of the running pass
  ScopedDiagnosticHandler handler;
};

} // namespace

void watchForBugs(PassManager &passes, bool checksInput, bool *isBug) {
  passes.addInstrumentation(std::make_unique<PassBlame>(passes.getContext(), checksInput, isBug));
}

} // namespace halftone::compiler
