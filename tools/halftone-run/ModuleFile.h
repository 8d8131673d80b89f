// A .mlir file with everything needed to run it: module, stage, parameters and variables.
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

/// Parses and verifies a module in a stage from graph to kernel. value_error, with the diagnostics and the line of the
/// first error, if the text is not such a module. Messages call the file `name`.
StatusOr<ModuleFile> parseModule(const std::string &text, const std::string &name);
/// parseModule() of a text or bytecode file (loadModuleText()). io_error with the path and the system's reason.
StatusOr<ModuleFile> loadModule(const std::string &path);

/// Infers the stage of a module from its contents: kernels, values tied to variables, a table of layers without layer
/// ops.
compiler::Stage stageOf(mlir::ModuleOp module);

/// The tensor type for an MLIR type; nullopt if there is none.
std::optional<TensorType> tensorTypeOf(mlir::Type type);

} // namespace halftone::tools
