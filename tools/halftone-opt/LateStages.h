// The stages after the modules: linalg, plan and target, through the compiler itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

/// Compiles the module in `file` from options.from and writes the text of `stage` to `out`. Errors go to stderr; false on
/// any. `executable`, when not null, receives the result.
bool printLateStage(std::unique_ptr<llvm::MemoryBuffer> file, llvm::raw_ostream &out, mlir::DialectRegistry &registry,
                    halftone::compiler::Stage stage, halftone::compiler::CompileOptions options,
                    halftone::Executable *executable = nullptr);
