// The LLVM passes over kernels for CPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace halftone::compiler {

/// Marks a function with loops that have more pointers, with strides known only at run time, than there are registers.
/// For such loops, strength reduction is worth its time.
inline constexpr llvm::StringLiteral manyPointersAttr = "halftone-many-pointers";

/// Sets manyPointersAttr on `code`, before its translation to LLVM IR.
void markManyPointers(mlir::func::FuncOp code);

/// The passes over the LLVM IR of `module` for `cpu`.
llvm::FunctionPassManager kernelPasses(const llvm::Module &module, const CpuTarget &cpu);

/// The arguments of the code generator's passes that are skipped for the code of `module` for `cpu`.
llvm::SmallVector<llvm::StringLiteral, 0> skippedPasses(const llvm::Module &module, const CpuTarget &cpu);

} // namespace halftone::compiler
