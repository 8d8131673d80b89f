// Math instructions for 512-bit vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathInstructions.h"

namespace llvm {
class MCSubtargetInfo;
} // namespace llvm

namespace halftone::compiler {

/// Returns true if a CPU with these features has the parts of AVX-512 that 512-bit vectors require.
bool hasAvx512(const llvm::MCSubtargetInfo &features);

/// The instructions for 512-bit vectors. `hasBf16`: the CPU has AVX512_BF16.
const MathInstructions &x86MathInstructions(bool hasBf16);

} // namespace halftone::compiler
