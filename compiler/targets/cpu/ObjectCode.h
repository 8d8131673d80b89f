// Compiles LLVM IR to a relocatable object in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/IR/Module.h"

namespace halftone::compiler {

/// Optimizes `module` for `cpu`, whose machine is `machine`, and returns a position-independent ELF object. Its only
/// undefined symbols are those of cores that `module` declares. If LLVM inserts a call to libm, memcpy or compiler-rt,
/// a runtime_error names the function. `dumps` gets llvm and assembly.
StatusOr<std::string> generateObject(llvm::Module &module, const CpuTarget &cpu, MachineCode &machine,
                                     KernelDumps *dumps);

} // namespace halftone::compiler
