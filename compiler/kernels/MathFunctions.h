// Transcendental functions as arithmetic, for f32 and f64, scalar and vector.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathTraits.h"
#include "compiler/kernels/Emitted.h"
#include <initializer_list>

namespace halftone::compiler {

/// The functions are built from fused multiply-add, rounding and scaling as the target has them.
struct MathTarget : MathTraits {
  explicit MathTarget(const MathTraits &traits) : MathTraits(traits) {}

  Emitted multiplyAdd(Emitted a, Emitted b, Emitted c) const; // a * b + c, fused where it is one instruction
  Emitted multiplyAdd(Emitted a, double b, Emitted c) const { return multiplyAdd(a, a.like(b), c); }
  Emitted multiplyAdd(Emitted a, Emitted b, double c) const { return multiplyAdd(a, b, a.like(c)); }
  Emitted roundEven(Emitted a) const;
  Emitted truncate(Emitted a) const;
  Emitted floor(Emitted a) const;
  Emitted ceil(Emitted a) const;
  /// Whether `scale` is an instruction for numbers of a's type.
  bool scales(Emitted a) const;
  /// a * 2^floor(n) rounded once; +inf and +0 for n = +inf and -inf, whatever a is.
  Emitted scale(Emitted a, Emitted n) const;
  /// For numbers that scale, of f32: the table's elements that the low four bits of the integers say.
  Emitted lookUp(llvm::ArrayRef<float> table, Emitted places) const;
  /// c[0] + c[1] x + c[2] x^2 + ...
  Emitted polynomial(Emitted x, std::initializer_list<double> coefficients) const;
};

// Bounds in units in the last place (ulp) of the result, asserted by tests/compiler/ExpandMath.cpp.     f32   f64
Emitted buildExp(const MathTarget &target, Emitted x);   // subnormal results rounded once        1     2
Emitted buildExpm1(const MathTarget &target, Emitted x); //                                       2     3
Emitted buildTanh(const MathTarget &target, Emitted x);  //                                       2     4
Emitted buildLog(const MathTarget &target, Emitted x);   //                                       1     1
Emitted buildLog1p(const MathTarget &target, Emitted x); //                                       2     2
Emitted buildErf(const MathTarget &target, Emitted x);   //                                       2     2
/// IEEE 754's pow.                                                                                       1     6
Emitted buildPow(const MathTarget &target, Emitted x, Emitted y);
/// f32: any finite x. f64: |x| < 2^20, beyond that no promise but a finite result.                       1     2
Emitted buildSin(const MathTarget &target, Emitted x);
Emitted buildCos(const MathTarget &target, Emitted x);
/// C's fmod, exact. One step per bit of the quotient.
Emitted buildRemainder(const MathTarget &target, Emitted x, Emitted y);

} // namespace halftone::compiler
