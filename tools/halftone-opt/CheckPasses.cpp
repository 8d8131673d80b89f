// --check-passes: compares the module before and after each pass.
// SPDX-License-Identifier: Apache-2.0
#include "CheckPasses.h"
#include "Interpretations.h"
#include "PassContract.h"
#include "PassName.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <memory>
#include <optional>

using namespace mlir;
using namespace halftone;

namespace {

/// The state of a module at one point of the pipeline.
struct State {
  OperationFingerPrint print;
  Contract contract;
  std::optional<Outcome> outcome;   // nullopt if the module cannot be interpreted
  std::string refusal;              // the reason
  std::optional<Outcome> intervals; // used if a pass may reorder sums
  bool hasGradient() const { return contract.contains("a gradient"); }
};
using StateRef = std::shared_ptr<State>;

/// The states of the module during the pipeline.
class Modules {
public:
  /// The state of the whole module around `op`; null if there is none.
  StateRef stateOf(Operation *op) {
    while (Operation *parent = op->getParentOp())
      op = parent;
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      return nullptr;
    const OperationFingerPrint print(module);
    if (latest && latest->print == print)
      return latest;
    StatusOr<Outcome> outcome = interpretations.of(module, false);
    latest = std::make_shared<State>(State{print, contractOf(module), {}, {}, {}});
    if (outcome)
      latest->outcome = *std::move(outcome);
    else
      latest->refusal = outcome.status().message();
    return latest;
  }
  /// Adds intervals to the current state of the whole module around `op`.
  void addIntervals(State &state, Operation *op) {
    while (Operation *parent = op->getParentOp())
      op = parent;
    if (state.outcome && !state.intervals)
      if (StatusOr<Outcome> intervals = interpretations.of(cast<ModuleOp>(op), true); intervals)
        state.intervals = *std::move(intervals);
  }

private:
  Interpretations interpretations;
  StateRef latest;
};

/// Rejects a module whose @main cannot be interpreted, before the first pass.
class CheckInput : public PassWrapper<CheckInput, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckInput)
  explicit CheckInput(std::shared_ptr<Modules> modules) : modules(std::move(modules)) {}

private:
  StringRef getName() const override { return "check-input"; }
  void runOnOperation() override {
    auto module = dyn_cast<ModuleOp>(getOperation());
    const StateRef state = modules->stateOf(getOperation());
    markAllAnalysesPreserved();
    if (module && !module.lookupSymbol("main")) {
      if (!module.getBody()->empty())
        emitWarning(module.getLoc()) << "--check-passes: there is no function @main, so no values are compared";
      return;
    }
    if (state && state->outcome)
      return;
    emitError(getOperation()->getLoc()) << "--check-passes: "
                                        << (state ? state->refusal
                                                  : "the root is not a module; expected a module with @main");
    signalPassFailure();
  }

  std::shared_ptr<Modules> modules;
};

class PassChecks : public PassInstrumentation {
public:
  PassChecks(std::shared_ptr<Modules> modules, bool *differed) : modules(std::move(modules)), differed(differed) {}

private:
  /// A running pass. The passes that an adaptor runs are above it on the stack.
  struct Frame {
    StateRef before;
    bool reported = false;
  };

  void runBeforePass(Pass *pass, Operation *op) override {
    StateRef state = modules->stateOf(op);
    if (state && (reorders(pass) || state->hasGradient()))
      modules->addIntervals(*state, op);
    if (state && state->outcome)
      known = state;
    frames.push_back({std::move(state)});
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    frames.pop_back();
    if (!runsOthers(pass) && !isValid(op)) // MLIR's verifier does not name the pass
      emitRemark(op->getLoc()) << "--check-passes: " << nameOf(pass) << " leaves invalid IR";
  }
  void runAfterPass(Pass *pass, Operation *op) override;

  /// Returns true if this pass may reorder sums.
  static bool reorders(Pass *pass) {
    constexpr StringLiteral names[] = {"halftone-update-rows", "halftone-normalize", "halftone-choose-layouts",
                                       "halftone-form-kernels"};
    return llvm::is_contained(names, pass->getArgument());
  }
  static bool isValid(Operation *op) {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    return succeeded(verify(op));
  }
  std::string violationOf(Pass *pass, const State &before, const State &after) const;

  const std::shared_ptr<Modules> modules;
  bool *const differed;
  std::vector<Frame> frames;
  StateRef known; // the last interpretable state before a pass
};

/// The forbidden change that the pass made, or "".
std::string PassChecks::violationOf(Pass *pass, const State &before, const State &after) const {
  if (endsProgram(pass->getArgument()))
    return "";
  if (std::string breach = breachOf(pass->getArgument(), before.contract, after.contract); !breach.empty())
    return breach;
  if (!after.outcome)
    return before.outcome ? "leaves a module that cannot be interpreted: " + after.refusal : "";
  if (!before.outcome && !known)
    return "";
  const State &reference = before.outcome ? before : *known;
  const bool intervals = reference.intervals && (reorders(pass) || reference.hasGradient());
  return differenceBetween(intervals ? *reference.intervals : *reference.outcome, *after.outcome, intervals);
}

void PassChecks::runAfterPass(Pass *pass, Operation *op) {
  Frame frame = std::move(frames.back());
  frames.pop_back();
  const StateRef after = modules->stateOf(op);
  if (!frame.reported && !runsOthers(pass) && frame.before && after && frame.before != after)
    if (std::string violation = violationOf(pass, *frame.before, *after); !violation.empty()) {
      emitError(op->getLoc()) << "--check-passes: " << nameOf(pass) << " " << violation;
      *differed = frame.reported = true;
    }
  if (!frames.empty())
    frames.back().reported |= frame.reported;
}

} // namespace

void addPassChecks(PassManager &passes, bool *differed) {
  passes.getContext()->disableMultithreading();
  auto modules = std::make_shared<Modules>();
  passes.addInstrumentation(std::make_unique<PassChecks>(modules, differed));
  passes.addPass(std::make_unique<CheckInput>(std::move(modules)));
}
