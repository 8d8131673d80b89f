// A .mlir file with all that a run of it needs: its module, stage, parameters and variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Initial.h"
#include "compiler/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Signature.h"
#include <memory>
#include <string>
#include <vector>

namespace halftone::tools {

struct ModuleFile {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  compiler::Stage stage = compiler::Stage::graph;
  Signature signature; // feeds and fetches of @main
  std::vector<DeclaredVariable> variables;
};

/// Parses and checks a module in a stage from graph to kernel. If the text is no such module, value_error with the
/// diagnostics and the line of the first error. `name` names the file in messages.
StatusOr<ModuleFile> parseModule(const std::string &text, const std::string &name);
/// parseModule() on a file of text or bytecode (loadModuleText()). io_error with the path and the system's reason.
StatusOr<ModuleFile> loadModule(const std::string &path);

/// Finds the stage of a module by its contents: kernels, values tied to variables, a table of layers without layer ops.
compiler::Stage stageOf(mlir::ModuleOp module);

/// The tensor type of an MLIR type; nullopt if no tensor has it.
std::optional<TensorType> tensorTypeOf(mlir::Type type);

} // namespace halftone::tools
