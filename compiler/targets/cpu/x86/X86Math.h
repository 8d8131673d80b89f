// Math instructions of AVX-512.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathInstructions.h"

namespace halftone::compiler {

/// The instructions for vectors of 512 bits. `hasBf16`: the CPU has AVX512_BF16.
const MathInstructions &x86MathInstructions(bool hasBf16);

} // namespace halftone::compiler
