// Instructions of AVX-512 as code for CPUs that lack them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/IR/Module.h"

namespace halftone::compiler {

/// Replaces those instructions of AVX-512 that emitters name, in an unoptimized `module`, by calls of functions in it that
/// compute the same by LLVM's general ops. Tiles (AMX) stay.
void emulateInstructions(llvm::Module &module);

} // namespace halftone::compiler
