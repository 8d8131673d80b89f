// The stages after the modules (linalg, plan and target), produced by the compiler itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

/// The last pass of a pipeline to `stage`. It compiles the module, which must be in stage kernel, and appends the text
/// of `stage` to `*text`, separated from previous text by the marker of -split-input-file. Sets `*isBug` if a failure
/// is a compiler bug.
std::unique_ptr<mlir::Pass> createLateStagePass(halftone::compiler::Stage stage,
                                                halftone::compiler::CompileOptions options, std::string *text,
                                                bool *isBug);
