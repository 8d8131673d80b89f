// Vectors of 512 bits, and math instructions for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathInstructions.h"

namespace llvm {
class MCSubtargetInfo;
} // namespace llvm

namespace halftone::compiler {

/// Whether a CPU with these features has the parts of AVX-512 that vectors of 512 bits need.
bool hasAvx512(const llvm::MCSubtargetInfo &features);

/// The instructions for vectors of 512 bits. `hasBf16`: the CPU has AVX512_BF16.
const MathInstructions &x86MathInstructions(bool hasBf16);

} // namespace halftone::compiler
