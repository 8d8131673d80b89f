// The passes of LLVM that kernels go through on CPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace halftone::compiler {

/// The attribute of a function with loops that have more pointers, at pitches known only at run time, than there are registers
/// for them: in these strength reduction is worth its time.
inline constexpr llvm::StringLiteral manyPointersAttr = "halftone-many-pointers";

/// Gives `code` manyPointersAttr, on its way to LLVM IR.
void markManyPointers(mlir::func::FuncOp code);

/// The passes over the LLVM IR of `module` for `cpu`.
llvm::FunctionPassManager kernelPasses(const llvm::Module &module, const CpuTarget &cpu);

/// The arguments of the code generator's passes that the code of `module` for `cpu` does without.
llvm::SmallVector<llvm::StringLiteral, 0> passesLeftOut(const llvm::Module &module, const CpuTarget &cpu);

} // namespace halftone::compiler
