// Conversions between f32, f64 and the bits of narrow floats: the table of how each target converts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"
#include "compiler/kernels/MathTraits.h"

namespace halftone::compiler {

/// f16, bf16, f8E4M3FN, f8E5M2: floats that kernels store as integers of their width.
bool isNarrowFloat(mlir::Type type);

/// Converts `bits`, an integer (or vector of integers) that holds a `narrow` float, to f32. Exact; NaN stays NaN.
///   bf16          a shift
///   f16           the target's instruction (MathTraits::convertsF16), else integer code
///   f8            integer code and one exact product
Emitted widenNarrow(const MathTraits &math, Emitted bits, mlir::FloatType narrow);
/// Returns true if `value` is `bits` widened as by widenNarrow(): for bf16, or for f16 on a target with an instruction.
bool isWidenedNarrow(mlir::Value value, mlir::Value bits, mlir::FloatType narrow);

/// Rounds `value`, f32 or f64, once to nearest even; returns the bits of a `narrow` float. Overflow gives infinity, for
/// f8E4M3FN NaN; subnormals are kept; NaN is quieted and keeps its sign. The bits equal those of runtime/base/Half.h,
/// except for NaN payloads of f64.
///   bf16          the target's instruction (MathTraits::convertsBf16), else integer code; if the target has an instruction
///                 that flushes subnormals (MathInstructions::toBf16), an arith.truncf, which expand-roundings expands
///   f16           the target's instruction, else integer code
///   f8            integer code
///   from f64      first to f32, rounded to odd, which makes the second rounding correct
Emitted narrowFloat(const MathTraits &math, Emitted value, mlir::FloatType narrow);

/// Rounds `value`, f32, like narrowFloat() in integer code; returns the bits of a bf16.
Emitted bitsOfBf16(Emitted value);
/// Returns true if `op` is an arith.truncf to bf16.
bool isRoundingToBf16(mlir::Operation *op);

} // namespace halftone::compiler
