// From a finished trace to something that runs: the frontend's door to compiler and interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/CompiledFunction.h"
#include "runtime/plan/Executable.h"

namespace halftone::detail {

StatusOr<Executable> compileTrace(Trace &trace, const FunctionOptions &options);

/// The text of one stage.
StatusOr<std::string> traceText(Trace &trace, const FunctionOptions &options, Stage stage, bool locations);

/// Runs the trace in the reference interpreter and writes the variables it changes.
StatusOr<std::vector<Tensor>> interpretTrace(Trace &trace, const FunctionOptions &options,
                                             const std::vector<Tensor> &feeds);

} // namespace halftone::detail
