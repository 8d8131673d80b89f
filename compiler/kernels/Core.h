// Cores: functions that kernels of a target call, compiled once for all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::compiler {

/// A function that several kernels of a target call. It depends on no kernel and on no MLIRContext, so any thread may
/// emit it. Cores of one target that have the same symbol are equal.
struct Core {
  /// Begins with `prefix` and encodes everything on which the code depends, except the target.
  std::string symbol;
  std::string method; // how the code computes, for reports
  /// Adds the func.func named `symbol` to an empty module, in the dialects that Target::emit produces.
  std::function<void(mlir::ModuleOp)> emit;

  static constexpr llvm::StringLiteral prefix = "halftone_core_";
};

/// Emits a call of `core`, which returns values of these types. If `cores` does not contain the core, adds it and
/// declares its function before `caller`, the function that the builder inserts into, perhaps into a region that is not
/// attached to it yet.
mlir::ValueRange callCore(mlir::ImplicitLocOpBuilder &builder, const Core &core, mlir::ValueRange operands,
                          mlir::TypeRange results, mlir::func::FuncOp caller, std::vector<Core> &cores);

} // namespace halftone::compiler
