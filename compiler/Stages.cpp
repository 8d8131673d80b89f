// Names of the stages, and runs of the stock pipeline from one stage to another.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "compiler/passes/Pipelines.h"
#include "compiler/reports/Diagnostics.h"
#include "compiler/reports/PassBlame.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <fmt/format.h>

using namespace mlir;

namespace halftone::compiler {

static constexpr std::array<std::string_view, 7> stageNames = {"graph",  "cast", "pure",  "kernel",
                                                               "linalg", "plan", "target"};

std::string_view name(Stage stage) { return stageNames[static_cast<size_t>(stage)]; }

std::optional<Stage> stageNamed(std::string_view name) {
  auto *found = llvm::find(stageNames, name);
  if (found == stageNames.end())
    return std::nullopt;
  return static_cast<Stage>(found - stageNames.begin());
}

Status checkTarget(const std::string &name) { return Target::find(name).status(); }

StatusOr<std::string> targetKey(const std::string &name) {
  const StatusOr<std::shared_ptr<const Target>> target = Target::find(name);
  HALFTONE_RETURN_IF_ERROR(target.status());
  return (*target)->key();
}

Status runStages(ModuleOp module, Stage from, Stage to, const CompileOptions &options) {
  if (to > Stage::kernel || from > to)
    return Status(ErrorKind::value_error,
                  fmt::format("cannot run the passes from stage {} to stage {}: expected stages in order, up to kernel",
                              name(from), name(to)));
  if (!options.target.empty())
    HALFTONE_RETURN_IF_ERROR(checkTarget(options.target));
  auto show = [&](Stage stage) {
    if (!options.onStage)
      return;
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, OpPrintingFlags().enableDebugInfo(options.locations));
    options.onStage(stage, text);
  };
  // One pipeline per stage, so that the text of each stage can be shown. The first one only verifies.
  for (int next = static_cast<int>(from); next <= static_cast<int>(to); ++next) {
    Stage stage = static_cast<Stage>(next), before = stage == from ? from : static_cast<Stage>(next - 1);
    PassManager passes(module.getContext(), ModuleOp::getOperationName());
    buildPipeline(passes, before, stage, options);
    // One timing scope per stage: timers identify passes by address, and the passes of the previous stage are
    // destroyed.
    TimingScope times = options.timing ? options.timing->nest(llvm::StringRef(name(stage))) : TimingScope();
    passes.enableTiming(times);
    DiagnosticCollector diagnostics(module.getContext());
    bool isBug = false;
    watchForBugs(passes, stage == from, &isBug);
    // A verification after each pass takes 4 to 6 % of the first call of a deep net.
    const bool verifiesPasses = options.verifyStages || HALFTONE_VERIFY_STAGES;
    passes.enableVerifier(verifiesPasses);
    LogicalResult result = passes.run(module);
    if (!verifiesPasses && stage == to && succeeded(result) && failed(verify(module))) {
      result = failure();
      isBug = true;
    }
    HALFTONE_RETURN_IF_ERROR(
        diagnostics.check(result, fmt::format("the passes to stage {} failed without a diagnostic", name(stage)),
                          isBug ? ErrorKind::internal_error : ErrorKind::compile_error));
    show(stage);
  }
  return Status::ok();
}

} // namespace halftone::compiler
