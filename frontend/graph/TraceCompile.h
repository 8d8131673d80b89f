// Compiles or interprets a finished trace: the frontend's only way into compiler and interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/reports/FusionRow.h"
#include "frontend/graph/CompiledFunction.h"
#include "runtime/plan/Executable.h"

namespace halftone::detail {

/// Checks that code for the named target can run on a device whose own target is `ofDevice`; value_error if not.
Status checkRunsOn(const std::string &target, const std::string &ofDevice);

/// Compiles for the named target, unless HALFTONE_TARGET names another, which must be valid for the same device.
StatusOr<Executable> compileTrace(Trace &trace, const FunctionOptions &options, const std::string &target);

struct TextOptions {
  std::string target; // as of compileTrace()
  Stage stage;
  bool locations = false;
  /// If `stage` is linalg or later, called with the text of each stage from linalg to the last, since a single
  /// compilation produces all of them. It must not throw.
  std::function<void(Stage, std::string_view)> onLateStage{};
};
/// The text of one stage.
StatusOr<std::string> traceText(Trace &trace, const FunctionOptions &options, const TextOptions &text);
/// How the kernels of the trace are formed for this target, as of compileTrace(): one row for each launch.
StatusOr<std::vector<compiler::FusionRow>> traceFusion(Trace &trace, const FunctionOptions &options,
                                                       const std::string &target);

/// Does the work of `beforeRun`, runs the trace in the reference interpreter and writes the variables that the trace
/// changes. Like Player::play(), it holds the variables' locks from the first stored value to the last write.
StatusOr<std::vector<Tensor>> interpretTrace(Trace &trace, const FunctionOptions &options,
                                             const std::vector<Tensor> &feeds,
                                             const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);

/// A traced function that the reference interpreter runs repeatedly on given values of its variables. Not thread-safe.
class InterpretedTrace {
public:
  static StatusOr<InterpretedTrace> prepare(std::shared_ptr<Trace> trace, const FunctionOptions &options);
  const Trace &trace() const { return *trace_; }
  /// `values` has the values of the trace's variables, in their order.
  StatusOr<std::vector<Tensor>> run(const std::vector<Tensor> &values) const;

private:
  InterpretedTrace(std::shared_ptr<Trace> trace, const void *module) : trace_(std::move(trace)), module_(module) {}
  std::shared_ptr<Trace> trace_;
  const void *module_; // of the trace, in stage pure
};

/// The memory that a run uses for a variable's `own`.
VariableHandle memoryIn(const std::shared_ptr<const VariableSubstitutes> &substitutes, const VariableHandle &own);

} // namespace halftone::detail
