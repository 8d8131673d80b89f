// The buffers of @main's arguments and results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/AssignSlotsDraft.h"

namespace halftone::compiler {

using BufferMap = llvm::DenseMap<mlir::Value, BufferId>;

/// Adds the feeds, fetches, variables and shadows of @main to a draft. A variable or shadow has one buffer.
class SignatureBuffers {
public:
  /// `buffers` receives the buffers of arguments, and must contain those of results.
  SignatureBuffers(mlir::ModuleOp module, PlanDraft &draft, BufferMap &buffers)
      : symbols(module), draft(draft), buffers(buffers) {}

  Status addArguments(mlir::func::FuncOp main);
  Status addResults(mlir::func::FuncOp main);

private:
  StatusOr<BufferId> variableBuffer(mlir::FlatSymbolRefAttr symbol);
  StatusOr<BufferId> shadowBuffer(mlir::FlatSymbolRefAttr symbol);

  mlir::SymbolTable symbols;
  PlanDraft &draft;
  BufferMap &buffers;
  llvm::DenseMap<mlir::Attribute, BufferId> variables, shadows;
};

} // namespace halftone::compiler
