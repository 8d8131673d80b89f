// Determines, when a pipeline fails, whether the given module or the compiler is at fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

namespace halftone::compiler {

/// Watches a pipeline of buildPipeline(). The module is at fault if the check of its own stage fails, if attach-target
/// rejects a name, or if differentiate finds an op without a gradient. A failure of a tool's own pass is no compiler
/// bug either. Every other failure, and invalid IR after a pass, is a compiler bug: `*isBug` is set to true.
/// `checksInput`: the pipeline begins with the check of the module's stage. Must be called after all diagnostic
/// handlers are registered.
void watchForBugs(mlir::PassManager &passes, bool checksInput, bool *isBug);

} // namespace halftone::compiler
