// Emulation of AVX-512 instructions for CPUs that lack them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/IR/Module.h"

namespace halftone::compiler {

/// Replaces the AVX-512 instructions that emitters name, in an unoptimized `module`, by calls of functions in the
/// module, which compute the same results with LLVM's general ops. AMX instructions remain.
void emulateInstructions(llvm::Module &module);

} // namespace halftone::compiler
