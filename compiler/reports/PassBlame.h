// Tells, when a pipeline fails, whether the fault is the given module's or the compiler's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

namespace halftone::compiler {

/// Watches a pipeline of buildPipeline(). The module is at fault when the check of its own stage fails, or when
/// differentiate meets an op without a gradient. Every other failure, and invalid IR after a pass, is the compiler's
/// bug: `*isBug` becomes true. `checksInput`: the pipeline begins with the check of the module's stage. Call this after
/// all diagnostic handlers are registered.
void watchForBugs(mlir::PassManager &passes, bool checksInput, bool *isBug);

} // namespace halftone::compiler
