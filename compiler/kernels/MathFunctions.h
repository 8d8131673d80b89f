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

/// An op of the math dialect.
struct MathFunction {
  llvm::StringLiteral op;
  /// The function as arithmetic; null if the op stays as it is.
  Number (*build)(const MathTarget &target, llvm::ArrayRef<Number> x);
  /// How far the function may be off, in units in the last place (ulp) of the result.
  double f32, f64;
  /// The op becomes about one instruction, so emitters may unroll it freely.
  bool isShort = false;
};

// One table a file.
llvm::ArrayRef<MathFunction> basicFunctions();
llvm::ArrayRef<MathFunction> exponentials();
llvm::ArrayRef<MathFunction> logarithms();
llvm::ArrayRef<MathFunction> trigonometricFunctions();
llvm::ArrayRef<MathFunction> inverseFunctions();

/// The row of `op`, such as "math.exp", in one of the tables; null if there is none.
const MathFunction *mathFunction(llvm::StringRef op);
/// Whether `op` is one of the math dialect that is not short.
bool isLongFunction(mlir::Operation &op);

// Functions that others are built from.
Number buildExp(const MathTarget &target, Number x);
Number buildLog(const MathTarget &target, Number x);
Number buildLog1p(const MathTarget &target, Number x);
/// C's fmod, exact. One step per bit of the quotient.
Number buildRemainder(const MathTarget &target, Number x, Number y);

/// A row's `build` for a function of one number.
template <Number (*build)(const MathTarget &, Number)>
Number ofOne(const MathTarget &target, llvm::ArrayRef<Number> x) {
  return build(target, x[0]);
}
/// The same for one that computes f64: f32 is widened, and its result rounded once.
template <Number (*build)(const MathTarget &, Number)>
Number ofOneInF64(const MathTarget &target, llvm::ArrayRef<Number> x) {
  const Number wide = build(target, x[0].extend(x[0].f64()));
  return x[0].width() == 32 ? wide.narrow(x[0].f32()) : wide;
}
/// The same for an odd function: `build` computes it for a number that is not below 0.
template <Number (*build)(const MathTarget &, Number)>
Number ofOddInF64(const MathTarget &target, llvm::ArrayRef<Number> x) {
  // LLVM moves a sign through a rounding, and then would round from f64 to f16 at once: the sign comes last.
  return copySign(ofOneInF64<build>(target, absolute(x[0])), x[0]);
}

} // namespace halftone::compiler
