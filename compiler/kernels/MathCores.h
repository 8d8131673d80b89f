// Cores that compute functions of a value or a vector: long math functions, and roundings of subnormal numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"

namespace halftone::compiler {

/// The core that computes `op`, an op whose operands have the type of its result: f32 or f64, scalar or vector.
/// expand-math expands it there.
Core mathCore(mlir::Operation *op);

/// The core that rounds `count` vectors of `lanes` f32 to the bits of bf16, in integer code: the way for vectors with
/// subnormal numbers on a target whose instruction flushes them (MathInstructions::toBf16).
Core roundingCore(int64_t lanes, int64_t count);

} // namespace halftone::compiler
