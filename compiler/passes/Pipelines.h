// The pass pipeline from stage graph to stage kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "mlir/Pass/PassManager.h"

namespace halftone::compiler {

/// Adds the passes that take a module from stage `from` to stage `to` (at most `kernel`). With options.verifyStages, or
/// the CMake option HALFTONE_VERIFY_STAGES, the module is checked at `from` and at each stage boundary that it crosses.
void buildPipeline(mlir::OpPassManager &passes, Stage from, Stage to, const CompileOptions &options);

} // namespace halftone::compiler
