// assign-slots: the kernel stage becomes a plan. A translation, not a rewriting pass: SSA values end here.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = launch @k(%x, %w);  return %1   (%1 is the new value of %w)
// becomes
//   slots: 0 feed, 1 variable;  steps: launch k [0, 1 -> 1]
#pragma once
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/Executable.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::compiler {

/// The arguments of each launch of a kernel besides its buffers.
struct LaunchArguments {
  std::string key; // of the kernel's code
  std::vector<int64_t> extents;
  int64_t grid = 1, scratchBytes = 0;
  double cost = 0;
};
/// By the kernel's symbol.
using KernelArguments = llvm::StringMap<LaunchArguments>;

/// The symbol of the kernel that makes a shadow anew.
std::string refreshName(dialect::ShadowOp shadow);
/// Gives each shadow of a module in stage kernel a kernel of its region. compile_error when another symbol has the
/// kernel's name.
Status addRefreshKernels(mlir::ModuleOp module);

/// The plan of a module in stage kernel, its signature, variables, constants and sites; kernels, ledger and build id
/// are left to the caller. `arguments` has each kernel that is launched or refreshes a shadow.
///
/// - A new value of a variable or shadow is made in its own slot when nothing reads the old value afterwards and
///   the kernel that makes it reads the old value, if at all, only at the index it writes. Otherwise it is made
///   elsewhere and copied at the end.
/// - `when` becomes predicated steps: its condition, or the negation. A result that one branch leaves as the
///   variable's old value costs nothing when the other makes it in place, and a predicated copy otherwise.
/// - A loop becomes a repeat. Slices of a scan's operands and stacks are slots with strides; a carry of a scan lies in two
///   slots by turns, a carry of a while in one.
/// - `reshape` is the same slot. A fetch is made in its own slot when it is made once; otherwise it is copied.
/// - All else lies in one arena, by first and last use.
/// - A shadow's refresh launches the kernel that addRefreshKernels made.
StatusOr<Executable> assignSlots(mlir::ModuleOp module, const KernelArguments &arguments);

} // namespace halftone::compiler
