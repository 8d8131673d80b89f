// Transcendental functions as arithmetic, for f32 and f64, scalar and vector.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathInstructions.h"
#include "compiler/kernels/MathTraits.h"
#include <initializer_list>
#include <limits>

namespace halftone::compiler {

/// The functions are built from the target's fused multiply-add, rounding and scaling.
struct MathTarget : MathTraits {
  explicit MathTarget(const MathTraits &traits) : MathTraits(traits) {}

  Emitted multiplyAdd(Emitted a, Emitted b, Emitted c) const; // a * b + c, fused if the target has an instruction
  Emitted multiplyAdd(Emitted a, double b, Emitted c) const { return multiplyAdd(a, a.like(b), c); }
  Emitted multiplyAdd(Emitted a, Emitted b, double c) const { return multiplyAdd(a, b, a.like(c)); }
  Emitted roundEven(Emitted a) const;
  Emitted truncate(Emitted a) const;
  Emitted floor(Emitted a) const;
  Emitted ceil(Emitted a) const;
  /// The instructions for values of a's type, or null.
  const MathInstructions *instructionsFor(Emitted a) const {
    return instructions && instructions->take(a) ? instructions : nullptr;
  }
  /// c[0] + c[1] x + c[2] x^2 + ...
  Emitted polynomial(Emitted x, std::initializer_list<double> coefficients) const;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// An op of the math dialect.
struct MathFunction {
  llvm::StringLiteral op;
  /// Builds the function as arithmetic; null if the op is kept.
  Emitted (*build)(const MathTarget &target, llvm::ArrayRef<Emitted> x);
  /// The error bound, in units in the last place (ulp) of the result.
  double f32, f64;
  /// The number of ops of the f32 expansion, excluding constants, on a target that has all instructions.
  int64_t codeSize;
  /// The op becomes about one instruction, so emitters may unroll it without limit.
  bool isShort = false;
};

// One table per file.
llvm::ArrayRef<MathFunction> basicFunctions();
llvm::ArrayRef<MathFunction> exponentials();
llvm::ArrayRef<MathFunction> logarithms();
llvm::ArrayRef<MathFunction> trigonometricFunctions();
llvm::ArrayRef<MathFunction> inverseFunctions();

/// The table row of `op`, such as "math.exp"; null if there is none.
const MathFunction *mathFunction(llvm::StringRef op);
/// Returns true if `op` is an op of the math dialect that is not short.
bool isLongFunction(mlir::Operation &op);
/// The number of ops to which the steps after the emitter expand `op` (MathFunction::codeSize); 1 for an op that they
/// keep.
int64_t expansionSize(mlir::Operation &op);

// Building blocks of other functions.
Emitted buildExp(const MathTarget &target, Emitted x);
/// e^x for f32 values at most 0, or NaN: as accurate as buildExp(), with fewer instructions.
Emitted buildExpOfDistance(const MathTarget &target, Emitted x);
Emitted buildLog(const MathTarget &target, Emitted x);
Emitted buildLog1p(const MathTarget &target, Emitted x);
/// C's fmod, exact. Takes one step per bit of the quotient.
Emitted buildRemainder(const MathTarget &target, Emitted x, Emitted y);

/// Adapts a unary function to `build` of a table row.
template <Emitted (*build)(const MathTarget &, Emitted)>
Emitted ofOne(const MathTarget &target, llvm::ArrayRef<Emitted> x) {
  return build(target, x[0]);
}
/// Like ofOne(), for a function that computes in f64: an f32 operand is widened and the result is rounded once.
template <Emitted (*build)(const MathTarget &, Emitted)>
Emitted ofOneInF64(const MathTarget &target, llvm::ArrayRef<Emitted> x) {
  const Emitted wide = build(target, x[0].extend(x[0].f64()));
  return x[0].width() == 32 ? wide.narrow(x[0].f32()) : wide;
}
/// Like ofOneInF64(), for an odd function that `build` computes for non-negative operands.
template <Emitted (*build)(const MathTarget &, Emitted)>
Emitted ofOddInF64(const MathTarget &target, llvm::ArrayRef<Emitted> x) {
  // LLVM would move a sign through the rounding and then round from f64 to f16 at once, so the sign is applied last.
  return copySign(ofOneInF64<build>(target, absolute(x[0])), x[0]);
}

} // namespace halftone::compiler
