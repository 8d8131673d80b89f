// LLVM IR to PTX, in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/nvptx/NvptxTarget.h"

namespace halftone::compiler {

/// The PTX version of all code, as LLVM's feature: drivers know it from 525 on.
inline constexpr std::string_view ptxVersion = "ptx80";

/// Optimizes `module` and returns its PTX, made by the machine of a NvptxTarget: one entry, and no function that it would call. If the entry is strictFunction, each
/// operation on floats is exact or names its rounding (PtxRounding.h). internal_error, naming it, if LLVM would need a function or
/// another instruction. `dumps`, unless null, gets llvm and assembly.
StatusOr<std::string> generatePtx(llvm::Module &module, MachineCode &machine, KernelDumps *dumps);

} // namespace halftone::compiler
