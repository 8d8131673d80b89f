// The compiler's front door: a graph-stage module in, an Executable out, and every stage in between as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/Executable.h"
#include <cstdint>
#include <string>

namespace halftone::compiler {

/// The work that a compile did: for reports and tests.
struct CompileStatistics {
  int64_t kernels = 0;    // unique kernels in the plan
  int64_t compiled = 0;   // generated now
  int64_t fromMemory = 0; // found in the in-process cache
  int64_t fromDisk = 0;   // found in the disk cache
  int64_t standaloneCasts = 0;
  std::string cacheComplaint; // why compiled kernels are not kept on disk; empty when they are, or shall not
  double seconds = 0;
};

/// Compiles a module in stage options.from (consumed: left in the last stage reached). Every failure is a Status with
/// MLIR's diagnostics and the layer path of the op to blame; nothing aborts. compile_error and value_error blame the
/// given module, internal_error the compiler.
StatusOr<Executable> compile(mlir::ModuleOp module, const CompileOptions &options,
                             CompileStatistics *statistics = nullptr);

/// value_error if there is no target of that name on this machine. For tools.
Status checkTarget(const std::string &name);
/// Target::key() of the target of this name; value_error listing the known names when there is none.
StatusOr<std::string> targetKey(const std::string &name);

/// Runs the stock pipeline from one stage to another on a module, up to `kernel`. For tools.
Status runStages(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);

} // namespace halftone::compiler
