// When a pipeline fails: is the module to blame that it was given, or the compiler?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

namespace halftone::compiler {

/// Watches a pipeline of buildPipeline(). The module is to blame for what the check of its own stage finds, and for a
/// gradient that an op has not; everything else that fails, and IR that a pass of ours leaves invalid, is a bug: then
/// `*isBug` becomes true. `checksInput`: the pipeline begins with that check. To be called after all handlers of
/// diagnostics are in place.
void watchForBugs(mlir::PassManager &passes, bool checksInput, bool *isBug);

} // namespace halftone::compiler
