// log, log2, log10, log1p, pow, cbrt, from exponent and mantissa.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathFunctions.h"

using namespace halftone;
using namespace halftone::compiler;
using llvm::ArrayRef;

namespace {

/// x = 2^exponent * mantissa for positive normal x.
struct Split {
  Emitted exponent, mantissa; // exponent as a float
};

Split split(Emitted x) {
  const bool single = x.width() == 32;
  const int64_t one = single ? 0x3f800000 : 0x3ff0000000000000, root = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const int64_t mantissaBits = single ? 23 : 52, bias = single ? 127 : 1023;
  const mlir::Type element = single ? x.f32() : x.f64();
  const Emitted bits = x.bits() + (one - root);
  const Emitted exponent = (bits >> mantissaBits) - bias;
  const Emitted mantissa = ((bits & ((int64_t(1) << mantissaBits) - 1)) + root).bitsAs(element);
  return {toFloat(exponent, element), mantissa};
}

/// log(1 + f) / s - 2 as a series in z = s^2, s = f / (2 + f), where 1 + f is the mantissa in [sqrt(1/2), sqrt(2)).
Emitted logSeries(const MathTarget &target, Emitted z) {
  const bool single = z.width() == 32;
  return z * (single
                  ? target.polynomial(z, {0xaaaaaa.0p-24, 0xccce13.0p-25, 0x91e9ee.0p-25, 0xf89e26.0p-26})
                  : target.polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                          2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                          1.479819860511658591e-01}));
}

/// log(2^k (1 + f)) + low, where `low` is a small correction or null.
Emitted logOf(const MathTarget &target, Emitted k, Emitted f, Emitted low) {
  const bool single = f.width() == 32;
  const Emitted s = f / (f + 2.0), z = s * s, half = f * 0.5 * f;
  const Emitted series = logSeries(target, z);
  const double high = single ? 0x1.62e3p-1 : 6.93147180369123816490e-01;
  const double tail = single ? 9.0580006145e-06 : 1.90821492927058770002e-10;
  Emitted small = target.multiplyAdd(k, tail, low ? low : f.like(0.0));
  small = target.multiplyAdd(s, half + series, small);
  return target.multiplyAdd(k, high, f - (half - small));
}

/// A number as an unevaluated sum of two, the second below the last place of the first.
struct Pair {
  Emitted high, low;
};

/// a * b exactly, unless something overflows.
Pair multiplyExactly(const MathTarget &target, Emitted a, Emitted b) {
  const Emitted product = a * b;
  if (target.hasFma)
    return {product, target.multiplyAdd(a, b, -product)};
  const auto split = [](Emitted x) { // halves of 26 bits
    const Emitted scaled = x * 0x1.0000002p27, high = scaled - (scaled - x);
    return Pair{high, x - high};
  };
  const Pair x = split(a), y = split(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

/// The logarithm of a positive f64 to about 60 bits: pow multiplies its relative error by the result's own logarithm.
Pair logPair(const MathTarget &target, Emitted x) {
  const Emitted isSubnormal = x < 0x1p-1022;
  const Split parts = split(select(isSubnormal, x * 0x1p54, x));
  const Emitted k = parts.exponent - select(isSubnormal, x.like(54.0), x.like(0.0));
  const Emitted f = parts.mantissa - 1.0, divisor = f + 2.0, divisorLow = f - (divisor - 2.0);
  const Emitted s = f / divisor;
  const Pair back = multiplyExactly(target, s, divisor);
  const Emitted sLow = (((f - back.high) - back.low) - s * divisorLow) / divisor;
  // Both are exact, and the first is 0 or larger than the second.
  const Emitted first = k * 6.93147180369123816490e-01, second = s * 2.0;
  const Emitted high = first + second, highLow = second - (high - first);
  const Emitted rest = k * 1.90821492927058770002e-10 + (sLow * 2.0 + s * logSeries(target, s * s));
  const Emitted sum = high + rest;
  return {sum, highLow + (rest - (sum - high))};
}

/// e^(y log x) for x >= 0.
Emitted powerOf(const MathTarget &target, Emitted x, Emitted y) {
  const Pair log = logPair(target, x);
  const Pair product = multiplyExactly(target, log.high, y);
  const Emitted low = product.low + log.low * y;
  // 0, infinity and NaN, infinite powers and overflow are correct without the low part.
  const Emitted isPlain = differs(low - low, low.like(0.0)) | equal(x, x.like(0.0)) | negated(x < infinity);
  const Emitted exponent = select(isPlain, y * buildLog(target, x), product.high);
  const Emitted size = buildExp(target, exponent), correction = select(isPlain, low.like(0.0), low);
  return select(size < infinity, target.multiplyAdd(size, correction, size), size);
}

} // namespace

Emitted compiler::buildLog(const MathTarget &target, Emitted x) {
  const bool single = x.width() == 32;
  const Emitted isSubnormal = x < (single ? 0x1p-126 : 0x1p-1022);
  const double scale = single ? 0x1p25 : 0x1p54;
  const Split parts = split(select(isSubnormal, x * scale, x));
  const Emitted k = parts.exponent - select(isSubnormal, x.like(single ? 25.0 : 54.0), x.like(0.0));
  const Emitted value = logOf(target, k, parts.mantissa - 1.0, {});
  // Keeps +inf and NaN; 0 gives -inf, a negative number NaN.
  const Emitted positive = select(x < infinity, value, x);
  return select(x > 0.0, positive, select(equal(x, x.like(0.0)), x.like(-infinity), x.like(notANumber)));
}

Emitted compiler::buildLog1p(const MathTarget &target, Emitted x) {
  const bool single = x.width() == 32;
  const Emitted u = x + 1.0;
  const Split parts = split(u);
  // u's rounding error, relative to u.
  const Emitted error = select(u >= 2.0, 1.0 - (u - x), x - (u - 1.0)) / u;
  const Emitted low = select(u < (single ? 0x1p25 : 0x1p54), error, x.like(0.0));
  const Emitted near = (x > -0.2928932) & (x < 0.4142135);
  const Emitted value = logOf(target, select(near, x.like(0.0), parts.exponent), select(near, x, parts.mantissa - 1.0),
                              select(near, x.like(0.0), low));
  const Emitted positive = select(x < infinity, value, x);
  const Emitted defined =
      select(x > -1.0, positive, select(equal(x, x.like(-1.0)), x.like(-infinity), x.like(notANumber)));
  return select(equal(x, x.like(0.0)), x, defined);
}

namespace {

Emitted buildPow(const MathTarget &target, ArrayRef<Emitted> operands) {
  const Emitted x = operands[0], y = operands[1];
  const bool single = x.width() == 32;
  const Emitted a = x.extend(x.f64()), b = y.extend(y.f64());
  const Emitted size = single ? buildExp(target, b * buildLog(target, absolute(a))) : powerOf(target, absolute(a), b);
  const Emitted isInteger = equal(target.truncate(b), b); // infinities too
  const Emitted half = b * 0.5, isOdd = isInteger & differs(target.truncate(half), half);
  const Emitted isNegative = a.bits() < 0;
  Emitted value = select(isNegative & isOdd, -size, size);
  // A finite negative number has only integer powers.
  value = select((a < 0.0) & (a > -infinity) & negated(isInteger) & equal(b, b), b.like(notANumber), value);
  value = single ? value.narrow(x.f32()) : value;
  const Emitted isOne =
      equal(x, x.like(1.0)) | equal(y, y.like(0.0)) | (equal(x, x.like(-1.0)) & equal(absolute(y), y.like(infinity)));
  return select(isOne, x.like(1.0), value);
}

// The functions below compute in f64.

/// x = 2^exponent * mantissa for any positive finite x.
Split splitAny(Emitted x) {
  const Emitted isSubnormal = x < 0x1p-1022;
  const Split parts = split(select(isSubnormal, x * 0x1p54, x));
  return {parts.exponent - select(isSubnormal, x.like(54.0), x.like(0.0)), parts.mantissa};
}

/// Completes `value`, computed for positive finite x, with a logarithm's values at all other x.
Emitted atEdges(Emitted x, Emitted value) {
  const Emitted positive = select(x < infinity, value, x);
  return select(x > 0.0, positive, select(equal(x, x.like(0.0)), x.like(-infinity), x.like(notANumber)));
}

Emitted buildLog2(const MathTarget &target, Emitted x) {
  const Split parts = splitAny(x);
  const Emitted log = logOf(target, x.like(0.0), parts.mantissa - 1.0, {});
  return atEdges(
      x, target.multiplyAdd(log, 0x1.71547652b82fep0, target.multiplyAdd(log, 0x1.777d0ffda0d24p-56, parts.exponent)));
}

Emitted buildLog10(const MathTarget &target, Emitted x) {
  const Split parts = splitAny(x);
  const Emitted log = logOf(target, x.like(0.0), parts.mantissa - 1.0, {});
  // The first part of log10(2) has enough trailing zeros for the product to be exact.
  const Emitted low = target.multiplyAdd(parts.exponent, 0x1.3fde623e2566bp-43, log * 0x1.95355baaafad3p-57);
  return atEdges(
      x, target.multiplyAdd(parts.exponent, 0x1.34413509f7000p-2, target.multiplyAdd(log, 0x1.bcb7b1526e50ep-2, low)));
}

Emitted buildCbrt(const MathTarget &target, Emitted size) {
  const Split parts = splitAny(size);
  const Emitted third = target.roundEven(parts.exponent * (1.0 / 3)), rest = parts.exponent - third * 3.0; // -1, 0 or 1
  const Emitted scale = select(rest < 0.0, size.like(0.5), select(rest > 0.0, size.like(2.0), size.like(1.0)));
  const Emitted m = parts.mantissa * scale;
  Emitted y = target.polynomial(m, {5.068079256e-1, 6.576729089e-1, -1.924804262e-1, 2.603992585e-2});
  for (int step = 0; step < 2; ++step) { // Halley's method: 7, 20, then more than 54 bits
    const Emitted cube = y * y * y;
    y = y + y * ((m - cube) / (cube * 2.0 + m));
  }
  const Emitted shifted = third + 0x1.8p52, steps = shifted.bits() - size.like(0x1.8p52).bits();
  const Emitted value = y * ((steps + 1023) << 52).bitsAs(size.f64());
  return select((size > 0.0) & (size < infinity), value, size);
}

} // namespace

ArrayRef<MathFunction> compiler::logarithms() {
  static constexpr MathFunction table[] = {
      {"math.log", ofOne<buildLog>, 1, 1, 35},
      {"math.log2", ofOneInF64<buildLog2>, 1, 2, 42},
      {"math.log10", ofOneInF64<buildLog10>, 1, 2, 44},
      {"math.log1p", ofOne<buildLog1p>, 2, 2, 48},
      {"math.powf", buildPow, 1, 6, 108}, // IEEE 754's pow
      {"math.cbrt", ofOddInF64<buildCbrt>, 1, 1, 58},
  };
  return table;
}
