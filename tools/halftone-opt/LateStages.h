// The stages after the modules: linalg, plan and target, through the compiler itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

/// The last pass of a pipeline to `stage`: compiles the module, which is in stage kernel, and adds the text of `stage`
/// to
/// `*text`, after the marker of -split-input-file when there is text already. `*isBug` becomes true when the compiler
/// is to blame for a failure.
std::unique_ptr<mlir::Pass> createLateStagePass(halftone::compiler::Stage stage,
                                                halftone::compiler::CompileOptions options, std::string *text,
                                                bool *isBug);
