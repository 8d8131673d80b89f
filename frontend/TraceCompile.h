// From a finished trace to something that runs: the frontend's door to compiler and interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/CompiledFunction.h"
#include "runtime/plan/Executable.h"

namespace halftone::detail {

/// For the compiler's target of that name, unless HALFTONE_TARGET names another.
StatusOr<Executable> compileTrace(Trace &trace, const FunctionOptions &options, const std::string &target);

struct TextOptions {
  std::string target; // as for compileTrace()
  Stage stage;
  bool locations = false;
};
/// The text of one stage.
StatusOr<std::string> traceText(Trace &trace, const FunctionOptions &options, const TextOptions &text);

/// Runs the trace in the reference interpreter and writes the variables it changes.
StatusOr<std::vector<Tensor>> interpretTrace(Trace &trace, const FunctionOptions &options,
                                             const std::vector<Tensor> &feeds);

} // namespace halftone::detail
