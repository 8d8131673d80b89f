// Cores: functions that kernels of a target call, made once for all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>

namespace halftone::compiler {

/// A function that a target writes. It depends on no kernel and on no context, so any thread may write it. Cores of a target with
/// one symbol are the same.
struct Core {
  /// Begins with `prefix`, and names all that decides the code, beside the target.
  std::string symbol;
  std::string method; // how the code computes, for reports
  /// Adds the func.func named `symbol` to an empty module, in ops as Target::emit leaves them.
  std::function<void(mlir::ModuleOp)> emit;

  static constexpr llvm::StringLiteral prefix = "halftone_core_";
};

} // namespace halftone::compiler
