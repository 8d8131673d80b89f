// The table of kernel kinds: target-independent facts of a linalg form that follow from its kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Enums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

struct KernelForm;

/// A row of the table.
struct FormTraits {
  dialect::KernelKind kind;
  /// The number of block sizes among the index arguments.
  int64_t blockSizes;
  /// The approximate number of LLVM IR instructions of the shortest kernels on a CPU.
  int64_t fewestInstructions;
  /// The groups of dims that one linear index may span.
  llvm::SmallVector<llvm::SmallVector<int>> (*linearGroups)(mlir::func::FuncOp function, const KernelForm &form);
};

const FormTraits &traitsOf(dialect::KernelKind kind);

} // namespace halftone::compiler
