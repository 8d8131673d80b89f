// A compiled module with the kernel-stage module from which its plan was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "dialect/Dialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/plan/Executable.h"
#include <memory>
#include <vector>

namespace halftone::tools {

struct CompiledModule {
  std::shared_ptr<const Executable> executable;
  mlir::OwningOpRef<mlir::ModuleOp> kernelStage;
  /// The launch ops of stage kernel, one for each launch step of the plan, in the plan's order.
  std::vector<dialect::LaunchOp> launches;
  compiler::CompileStatistics statistics;
};

/// Compiles a copy of `module`, which is in stage `from`.
StatusOr<CompiledModule> compileModule(mlir::ModuleOp module, compiler::Stage from,
                                       const compiler::CompileOptions &options);

} // namespace halftone::tools
