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
#include "llvm/ADT/STLFunctionalExtras.h"

namespace halftone::compiler {

/// What a launch of a kernel needs besides its buffers.
struct LaunchNumbers {
  std::string key; // of the kernel's code
  std::vector<int64_t> extents;
  int64_t grid = 1, scratchBytes = 0;
  double cost = 0;
};
using DescribeLaunch = llvm::function_ref<StatusOr<LaunchNumbers>(dialect::KernelOp)>;

/// The plan of a module in stage kernel, its signature, variables, constants and sites; kernels, ledger and build id
/// are left to the caller. `describe` is asked once a kernel.
///
/// - A new value of a variable or shadow is made in its own slot when nothing reads the old value afterwards and
///   the kernel that makes it reads the old value, if at all, only at the index it writes. Otherwise it is made
///   elsewhere and copied at the end.
/// - `when` becomes predicated steps: its condition, or the negation. A result that one branch leaves as the
///   variable's old value costs nothing when the other makes it in place, and a predicated copy otherwise.
/// - `reshape` is the same slot. A fetch is made in its own slot when it is made once; otherwise it is copied.
/// - All else lies in one arena, by first and last use.
/// - A shadow's refresh is a kernel made here of the shadow's region, and left in the module.
StatusOr<Executable> assignSlots(mlir::ModuleOp module, DescribeLaunch describe);

} // namespace halftone::compiler
