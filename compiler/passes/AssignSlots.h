// assign-slots: translates the kernel stage to a plan. This is not a rewriting pass: the result is no longer SSA.
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

/// The arguments of each launch of a kernel, apart from its buffers.
struct LaunchArguments {
  std::string key; // of the kernel's code
  std::vector<int64_t> extents;
  int64_t grid = 1, scratchBytes = 0;
  double cost = 0;
};
/// By the kernel's symbol.
using KernelArguments = llvm::StringMap<LaunchArguments>;

/// The symbol of the kernel that recomputes a shadow.
std::string refreshName(dialect::ShadowOp shadow);
/// Adds a kernel with the region of each shadow of a module in stage kernel. compile_error if another symbol has the
/// kernel's name.
Status addRefreshKernels(mlir::ModuleOp module);

/// Returns the plan of a module in stage kernel with its signature, variables, constants and sites; kernels, ledger and
/// build id are left to the caller. `arguments` has an entry for each kernel that is launched or recomputes a shadow.
///
/// - A new value of a variable or shadow is written in place, to its own slot, if nothing reads the old value
///   afterwards and the kernel that computes it reads the old value, if at all, only at the index that it writes.
///   Otherwise it is written elsewhere and copied at the end.
/// - `when` becomes steps predicated on its condition or on the negation. A result that one branch leaves as the
///   variable's old value costs nothing if the other branch writes it in place, and a predicated copy otherwise.
/// - A loop becomes a repeat. Slices of a scan's operands and stacks are slots with strides. A carry of a scan
///   alternates between two slots; a carry of a while has one.
/// - The result of a `reshape` shares the slot of its operand. A fetch is written to its own slot if it is computed
///   once; otherwise it is copied.
/// - Everything else is allocated in one arena, by first and last use.
/// - Recomputing a shadow launches the kernel that addRefreshKernels added.
StatusOr<Executable> assignSlots(mlir::ModuleOp module, const KernelArguments &arguments);

} // namespace halftone::compiler
