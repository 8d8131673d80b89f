// Conversions between f32, f64 and the narrow floats as bits: the one table of how each target does them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"
#include "compiler/kernels/MathTraits.h"

namespace halftone::compiler {

/// f16, bf16, f8E4M3FN, f8E5M2: floats that are stored as integers of their width.
bool isNarrowFloat(mlir::Type type);

/// The value of `bits`, an integer (or a vector of them) that holds a `narrow` float, in f32. Exact; NaN stays NaN.
///   bf16          a shift
///   f16           the target's instruction (MathTraits::convertsF16), else integer code
///   f8            integer code and one exact product
Emitted widenNarrow(const MathTraits &math, Emitted bits, mlir::FloatType narrow);
/// Whether `value` is `bits` as widenNarrow() writes it for bf16 or, on a target with instructions for them, f16.
bool isWidenedNarrow(mlir::Value value, mlir::Value bits, mlir::FloatType narrow);

/// `value`, f32 or f64, rounded once to nearest even, as the bits of a `narrow` float. Overflow gives infinity, in
/// f8E4M3FN NaN; subnormals are kept; NaN is quieted and keeps its sign. The same bits as runtime/base/Half.h, NaN
/// payloads of f64 aside.
///   bf16          the target's instruction (MathTraits::convertsBf16), else integer code; if the target has an instruction
///                 that flushes subnormals (MathInstructions::toBf16), an arith.truncf, which expand-math turns into
///                 roundToBf16()
///   f16           the target's instruction, else integer code
///   f8            integer code
///   from f64      first to f32, rounded to odd: the second rounding then is the only one that counts
Emitted narrowFloat(const MathTraits &math, Emitted value, mlir::FloatType narrow);

/// `value`, f32, rounded as by narrowFloat, in bf16: by MathInstructions::toBf16 if the instructions take `value` and no
/// element is subnormal, else by integer code.
Emitted roundToBf16(const MathTraits &math, Emitted value);

} // namespace halftone::compiler
