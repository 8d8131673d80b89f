// Products of pairs of bf16 in 32-bit elements, the first of a pair in the lowest bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"

namespace halftone::compiler {

/// `sums`, 16 of f32, and in each lane the products of the members of `a` and `b`, by vdpbf16ps: it takes subnormal numbers for 0.
Emitted multiplyPairs(CodeBuilder &builder, Emitted sums, Emitted a, Emitted b);
/// The same by products of members widened to f32, which keep subnormal numbers.
Emitted multiplyPairsWidened(CodeBuilder &builder, Emitted sums, Emitted a, Emitted b);

} // namespace halftone::compiler
