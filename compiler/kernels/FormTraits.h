// The table of kernel kinds: facts of a kernel's linalg form that follow from its kind, for all targets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Enums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

struct KernelForm;

/// One kind, a row of the table.
struct FormTraits {
  dialect::KernelKind kind;
  /// How many block sizes stand among the index arguments.
  int64_t blockSizes;
  /// About how many instructions of LLVM IR the shortest kernels become on a CPU.
  int64_t fewestInstructions;
  /// The dims over which one linear index may run, group by group.
  llvm::SmallVector<llvm::SmallVector<int>> (*linearGroups)(mlir::func::FuncOp function, const KernelForm &form);
};

const FormTraits &traitsOf(dialect::KernelKind kind);

} // namespace halftone::compiler
