// The stages after the modules (linalg, plan and target), made by the compiler itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

/// The last pass of a pipeline to `stage`. It compiles the module, which is in stage kernel, and appends the text of
/// `stage` to `*text`; if there is text already, the marker of -split-input-file separates the two. If a failure is a
/// bug of the compiler, `*isBug` becomes true.
std::unique_ptr<mlir::Pass> createLateStagePass(halftone::compiler::Stage stage,
                                                halftone::compiler::CompileOptions options, std::string *text,
                                                bool *isBug);
