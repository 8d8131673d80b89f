// exp, exp2, expm1, tanh, sinh, cosh, erf.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathFunctions.h"
#include <array>
#include <cmath>

using namespace halftone;
using namespace halftone::compiler;
using llvm::ArrayRef;

namespace {

/// x = n ln 2 + r with |r| <= ln 2 / 2 / parts. n is a multiple of 1 / parts, as a float; parts n is an integer for
/// |parts n| < 2^22, and its low bits are those of `shifted`.
struct Reduced {
  Emitted n, steps, shifted, r;
};

/// `more` is added to the integer in the low bits of `shifted`, and to nothing else.
Reduced reduce(const MathTarget &target, Emitted x, int parts = 1, int more = 0) {
  const bool single = x.width() == 32;
  // Adding 1.5 * 2^mantissa leaves the nearest integer in the low bits. There is no conversion, so a NaN is harmless.
  const double shift = ((single ? 0x1.8p23 : 0x1.8p52) + more) / parts;
  const Emitted shifted = target.multiplyAdd(x, 0x1.71547652b82fep0, x.like(shift));
  Reduced reduced;
  reduced.n = shifted - shift;
  reduced.shifted = shifted.bits();
  reduced.steps = reduced.shifted - x.like(shift).bits();
  // The high part of ln 2 has enough trailing zeros for n * high to be exact.
  const double high = single ? 0x1.63p-1 : 0x1.62e42feep-1,
               low = single ? -0x1.bd0105c610ca8p-13 : 0x1.a39ef35793c76p-33;
  reduced.r = target.multiplyAdd(-reduced.n, low, target.multiplyAdd(-reduced.n, high, x));
  return reduced;
}

/// (e^r - 1 - r) / r^2
Emitted exponentialTail(const MathTarget &target, Emitted r) {
  if (r.width() == 32)
    return target.polynomial(r, {5.00000001348722526e-1, 1.666666668164701548e-1, 4.166646471137908299e-2,
                                 8.33331090172596997e-3, 1.393367373293185169e-3, 1.98910171843020296e-4});
  return target.polynomial(r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
}

/// 2^n for n within the range of normal exponents.
Emitted powerOfTwo(Emitted n, Emitted like) {
  const bool single = like.width() == 32;
  return ((n + (single ? 127 : 1023)) << (single ? 23 : 52)).bitsAs(single ? like.f32() : like.f64());
}

Emitted clamp(Emitted x, double low, double high) {
  const Emitted least = select(x < low, x.like(low), x); // two instructions; NaN is kept
  return select(least > high, x.like(high), least);
}

/// f32, for vectors that the instructions take: with 2^(k / 16) from a table, r is small and its polynomial short.
Emitted exponentialByTable(const MathTarget &target, const MathInstructions &instructions, Emitted x) {
  constexpr int parts = 16;
  std::array<float, parts> powers;
  for (int k = 0; k < parts; ++k)
    powers[size_t(k)] = float(std::exp2(double(k) / parts));
  const Reduced reduced = reduce(target, x, parts);
  const Emitted power = instructions.lookUp(powers, reduced.shifted), r = reduced.r;
  const Emitted rest = r * target.polynomial(r, {1, 5.00024e-1, 1.6667e-1}); // e^r - 1
  return instructions.scale(target.multiplyAdd(power, rest, power), reduced.n);
}

/// e^r
Emitted exponentialOfRest(const MathTarget &target, Emitted r) {
  if (r.width() == 32 && target.hasFma)
    return target.polynomial(r, {1, 1, 4.999999344307311e-1, 1.6666520561676354e-1, 4.16683888712474e-2,
                                 8.368725379513216e-3, 1.381458096312715e-3});
  return target.multiplyAdd(r * r, exponentialTail(target, r), r) + 1.0;
}

} // namespace

Emitted compiler::buildExp(const MathTarget &target, Emitted x) {
  const bool single = x.width() == 32;
  const Emitted bounded = single ? clamp(x, -104, 89) : clamp(x, -746, 710);
  const MathInstructions *const instructions = target.instructionsFor(x);
  if (single && instructions)
    return exponentialByTable(target, *instructions, bounded);
  const Reduced reduced = reduce(target, bounded);
  const Emitted value = exponentialOfRest(target, reduced.r);
  if (instructions)
    return instructions->scale(value, reduced.n);
  // In two steps, since the result may be subnormal, or 2^n infinite although the result is finite.
  const Emitted half = shiftSigned(reduced.steps, 1);
  return value * powerOfTwo(half, x) * powerOfTwo(reduced.steps - half, x);
}

Emitted compiler::buildExpOfDistance(const MathTarget &target, Emitted x) {
  constexpr double least = -104; // the result is 0 from here on down
  const Emitted isNone = x < least, zero = x.like(0.0);
  // The exponential of such a small number would multiply with underflow, which is slow.
  const Emitted bounded = select(isNone, zero, x);
  if (const MathInstructions *const instructions = target.instructionsFor(x))
    return select(isNone, zero, exponentialByTable(target, *instructions, bounded));
  // The power is 2^(n + 64), so only the last step can be subnormal.
  constexpr int bias = 127, extra = 64;
  const Reduced reduced = reduce(target, bounded, 1, bias + extra);
  const Emitted power = (reduced.shifted << 23).bitsAs(x.f32());
  return select(isNone, zero, exponentialOfRest(target, reduced.r) * power * 0x1p-64);
}

namespace {

Emitted buildExpm1(const MathTarget &target, Emitted x) {
  const bool single = x.width() == 32;
  const Reduced reduced = reduce(target, single ? clamp(x, -30, 89) : clamp(x, -50, 710));
  const Emitted r = reduced.r;
  const Emitted value = target.multiplyAdd(r * r, exponentialTail(target, r), r);
  // 2^n (value + 1) - 1, halved so that 2^n does not overflow.
  const Emitted scale = powerOfTwo(reduced.steps - 1, x);
  const Emitted sum = target.multiplyAdd(value, scale, scale - 0.5) * 2.0;
  return select(equal(reduced.n, x.like(0.0)), select(equal(x, x.like(0.0)), x, value), sum);
}

Emitted buildTanh(const MathTarget &target, Emitted x) {
  const Emitted size = absolute(x);
  if (x.width() == 64) {
    const Emitted e = buildExpm1(target, clamp(size, 0, 25) * -2.0);
    return copySign(-e / (e + 2.0), x);
  }
  const Emitted s = x * x;
  const Emitted odd =
      target.polynomial(s, {-3.333333312343918851e-1, 1.333329635281129843e-1, -5.395759513245624582e-2,
                            2.175570034585328841e-2, -8.301695360635958043e-3, 2.246003685593036442e-3});
  const Emitted small = target.multiplyAdd(s * odd, x, x);
  const Emitted large = 1.0 - 2.0 / (buildExp(target, clamp(size, 0, 12) * 2.0) + 1.0);
  return copySign(select(size < 0.64, small, large), x);
}

Emitted buildErf(const MathTarget &target, Emitted x) {
  const Emitted size = absolute(x), s = x * x;
  if (x.width() == 64) {
    const Emitted small = target.multiplyAdd(
        x,
        target.polynomial(s, {1.283791670955125738e-1, -3.761263890318374806e-1, 1.128379167095487867e-1,
                              -2.686617064507679325e-2, 5.223977624818014467e-3, -8.548326980833789905e-4,
                              1.205533111164271092e-4, -1.492559526683118157e-5, 1.646100048412136803e-6,
                              -1.635031270105469501e-7, 1.465977527404743581e-8, -1.137284885679167367e-9,
                              5.957176147748911404e-11}),
        x);
    // erfc(x) exp(x^2) as a polynomial in (x - 2) / (x + 2) for 1 <= x <= 6.1; erf rounds to 1 beyond.
    const Emitted bounded = clamp(size, 1, 6.1), t = (bounded - 2.0) / (bounded + 2.0);
    const Emitted scaled = target.polynomial(
        t, {2.553956763105057448e-1, -4.271858474139584923e-1, 2.416581942424655864e-1, -7.897858101570445669e-2,
            3.732892404431637051e-3, 6.997461736832013764e-3, -8.471432546097656804e-4, -9.819769354369155487e-4,
            4.355562286481952122e-5, 1.743593495169182141e-4, 2.752678594035455639e-5, -2.756070575842443086e-5,
            -1.39965553664269362e-5, 1.296519676069750304e-6, 4.012470526697491579e-6, 1.295800041263058764e-6,
            -1.155117462033811341e-6});
    const Emitted large = 1.0 - scaled * buildExp(target, -(bounded * bounded));
    return select(size < 1.0, small, copySign(large, x));
  }
  const Emitted small = target.multiplyAdd(target.polynomial(s, {1.28379166e-1, -3.76125336e-1, 1.12819925e-1,
                                                                 -2.67681349e-2, 4.99119423e-3, -5.96761703e-4}),
                                           x, x);
  // 1 - exp(p(|x|)), which is 1 from 4 on.
  const Emitted t = clamp(size, 0, 4.5);
  const Emitted p = target.polynomial(t, {-1.28717512e-1, -6.34846687e-1, -1.06777877e-1, 2.42546219e-2, -3.88396438e-3,
                                          3.83197126e-4, -1.72853470e-5});
  const Emitted large = 1.0 - buildExp(target, target.multiplyAdd(p, t, -t));
  return select(size > 0.927734375, copySign(large, x), small);
}

// The functions below compute in f64.

Emitted buildExp2(const MathTarget &target, Emitted x) {
  const Emitted bounded = clamp(x, -1080, 1030), n = target.roundEven(bounded);
  const Emitted r = (bounded - n) * 0x1.62e42fefa39efp-1;
  const Emitted value = target.multiplyAdd(r * r, exponentialTail(target, r), r) + 1.0;
  const Emitted shifted = n + 0x1.8p52, steps = shifted.bits() - x.like(0x1.8p52).bits();
  const Emitted half = shiftSigned(steps, 1);
  return value * powerOfTwo(half, x) * powerOfTwo(steps - half, x);
}

/// e^x / 2 for x >= 0, which overflows only if sinh and cosh do.
Emitted halfExponential(const MathTarget &target, Emitted x) {
  const Reduced reduced = reduce(target, clamp(x, 0, 711));
  const Emitted r = reduced.r, value = target.multiplyAdd(r * r, exponentialTail(target, r), r) + 1.0;
  return value * powerOfTwo(reduced.steps - 2, x) * 2.0;
}

Emitted buildCosh(const MathTarget &target, Emitted x) {
  const Emitted half = halfExponential(target, absolute(x));
  return half + 0.25 / half;
}

Emitted buildSinh(const MathTarget &target, Emitted size) {
  const Emitted s = size * size, half = halfExponential(target, size);
  const Emitted odd = target.polynomial(s, {1.666666666666666667e-1, 8.333333333333333333e-3, 1.984126984126976943e-4,
                                            2.755731922404034010e-6, 2.505210836405804112e-8, 1.605904839635056194e-10,
                                            7.646625361656655915e-13, 2.844526416989561572e-15});
  return select(size < 1.0, target.multiplyAdd(s * odd, size, size), half - 0.25 / half);
}

} // namespace

ArrayRef<MathFunction> compiler::exponentials() {
  static constexpr MathFunction table[] = {
      {"math.exp", ofOne<buildExp>, 1, 2, 19}, // subnormal results are rounded once
      {"math.exp2", ofOneInF64<buildExp2>, 1, 2, 37}, {"math.expm1", ofOne<buildExpm1>, 2, 3, 31},
      {"math.tanh", ofOne<buildTanh>, 2, 4, 40},      {"math.sinh", ofOddInF64<buildSinh>, 1, 2, 52},
      {"math.cosh", ofOneInF64<buildCosh>, 1, 2, 38}, {"math.erf", ofOne<buildErf>, 2, 2, 44},
  };
  return table;
}
