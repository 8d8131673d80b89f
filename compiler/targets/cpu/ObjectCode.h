// LLVM IR to a relocatable object, in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/IR/Module.h"

namespace halftone::compiler {

/// Optimizes `module` for `cpu`, whose machine is `machine`, and returns a position-independent ELF object without undefined symbols other than those of cores that
/// `module` declares: no call to libm, to memcpy or to compiler-rt is ever made up; runtime_error when LLVM would need one, naming it. `dumps` gets
/// llvm and assembly.
StatusOr<std::string> generateObject(llvm::Module &module, const CpuTarget &cpu, MachineCode &machine,
                                     KernelDumps *dumps);

} // namespace halftone::compiler
