// Transcendental functions as arithmetic, for f32 and f64, scalar and vector.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathTraits.h"
#include "compiler/kernels/Number.h"
#include <initializer_list>

namespace halftone::compiler {

/// The functions are built from fused multiply-add, rounding and scaling as the target has them.
struct MathTarget : MathTraits {
  explicit MathTarget(const MathTraits &traits) : MathTraits(traits) {}

  Number multiplyAdd(Number a, Number b, Number c) const; // a * b + c, fused where it is one instruction
  Number multiplyAdd(Number a, double b, Number c) const { return multiplyAdd(a, a.like(b), c); }
  Number multiplyAdd(Number a, Number b, double c) const { return multiplyAdd(a, b, a.like(c)); }
  Number roundEven(Number a) const;
  Number truncate(Number a) const;
  Number floor(Number a) const;
  Number ceil(Number a) const;
  /// Whether `scale` is an instruction for numbers of a's type.
  bool scales(Number a) const;
  /// a * 2^floor(n) rounded once; +inf and +0 for n = +inf and -inf, whatever a is.
  Number scale(Number a, Number n) const;
  /// For numbers that scale, of f32: the table's elements that the low four bits of the integers say.
  Number lookUp(llvm::ArrayRef<float> table, Number places) const;
  /// c[0] + c[1] x + c[2] x^2 + ...
  Number polynomial(Number x, std::initializer_list<double> coefficients) const;
};

// Bounds in units in the last place (ulp) of the result, asserted by tests/compiler/ExpandMath.cpp.     f32   f64
Number buildExp(const MathTarget &target, Number x);   // subnormal results rounded once        1     2
Number buildExpm1(const MathTarget &target, Number x); //                                       2     3
Number buildTanh(const MathTarget &target, Number x);  //                                       2     4
Number buildLog(const MathTarget &target, Number x);   //                                       1     1
Number buildLog1p(const MathTarget &target, Number x); //                                       2     2
Number buildErf(const MathTarget &target, Number x);   //                                       2     2
/// IEEE 754's pow.                                                                                       1     6
Number buildPow(const MathTarget &target, Number x, Number y);
/// f32: any finite x. f64: |x| < 2^20, beyond that no promise but a finite result.                       1     2
Number buildSin(const MathTarget &target, Number x);
Number buildCos(const MathTarget &target, Number x);
/// C's fmod, exact. One step per bit of the quotient.
Number buildRemainder(const MathTarget &target, Number x, Number y);

} // namespace halftone::compiler
