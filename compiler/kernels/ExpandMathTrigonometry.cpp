// sin, cos and tan: the angle modulo a quarter turn, then a polynomial.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathFunctions.h"

using namespace halftone;
using namespace halftone::compiler;
using llvm::ArrayRef;

namespace {

/// An angle minus `quarters` quarter turns: |r| <= pi / 4. `quarters` is a float, significant modulo 4.
struct Angle {
  Emitted quarters, r;
};

/// Accurate enough for every f32, given as f64. x * 2/pi is summed over 29-bit parts of 2/pi: each product with the 24
/// bits of x is exact, and so is the subtraction of whole turns and quarters.
Angle reduceSingle(const MathTarget &target, Emitted x) {
  Emitted fraction = x.like(0.0), quarters = x.like(0.0);
  for (const double part : {0x1.45f306dp-1, 0x1.9391054p-30, 0x1.4fe13abp-59, 0x1.d1f534dp-88, 0x1.b81b6c5p-117,
                            0x1.5993c4p-148, 0x1.c820ff2p-175}) {
    const Emitted product = x * part;
    const Emitted inTurn = product - target.roundEven(product * 0.25) * 4.0;
    const Emitted whole = target.roundEven(inTurn);
    const Emitted sum = fraction + (inTurn - whole), carried = target.roundEven(sum);
    fraction = sum - carried;
    quarters = quarters + whole + carried;
  }
  return {quarters, fraction * 0x1.921fb54442d18p0};
}

/// Uses three parts of pi / 2. The products with the first two are exact for |x| < 2^20.
Angle reduceDouble(const MathTarget &target, Emitted x) {
  const Emitted n = target.roundEven(x * 0x1.45f306dc9c883p-1);
  const Emitted first = x - n * 0x1.921fb544p0, second = n * 0x1.0b4611a6p-34;
  const Emitted difference = first - second;
  // The part lost to rounding in the subtraction.
  const Emitted lost = (first - difference) - second;
  const Emitted r = difference + (lost - n * 0x1.3198a2e037073p-69);
  const double edge = 0.7854;
  return {n, select(r > edge, r.like(edge), select(r < -edge, r.like(-edge), r))};
}

/// The sine and cosine of the remainder r of an Angle.
struct Circle {
  Emitted sine, cosine;
};

Circle circle(const MathTarget &target, Emitted r, bool single) {
  const Emitted s = r * r;
  const Emitted sinTail =
      single ? target.polynomial(s, {-1.66666666666638824e-1, 8.333333331076930222e-3, -1.984126691475646429e-4,
                                     2.755599025507050626e-6, -2.480557377350487857e-8})
             : target.polynomial(s, {-1.666666666666666667e-1, 8.333333333333331489e-3, -1.984126984126505887e-4,
                                     2.755731921933443841e-6, -2.505210623080540431e-8, 1.605853135872901813e-10,
                                     -7.586681777999908358e-13});
  const Emitted cosTail =
      single ? target.polynomial(s, {4.166666666431881726e-2, -1.388888767108894097e-3, 2.480059987595737193e-5,
                                     -2.730089422209794103e-7})
             : target.polynomial(s, {4.166666666666666667e-2, -1.388888888888888786e-3, 2.480158730158464305e-5,
                                     -2.755731922140019569e-7, 2.087675579016741362e-9, -1.14704607429123062e-11,
                                     4.745863373444177893e-14});
  return {target.multiplyAdd(s * r, sinTail, r), target.multiplyAdd(s * s, cosTail, 1.0 - s * 0.5)};
}

Angle reduce(const MathTarget &target, Emitted x, bool single) {
  return single ? reduceSingle(target, x) : reduceDouble(target, x);
}

/// sin(x) for offset 0, cos(x) for offset 1.
Emitted build(const MathTarget &target, Emitted x, double offset) {
  const bool single = x.width() == 32;
  const Emitted wide = x.extend(x.f64());
  const Angle angle = reduce(target, wide, single);
  const auto [sine, cosine] = circle(target, angle.r, single);
  // Quarter turns modulo 4, in [-2, 2], as floats.
  const Emitted rotated = angle.quarters + offset, quarter = rotated - target.roundEven(rotated * 0.25) * 4.0;
  const Emitted isOdd = equal(absolute(quarter), quarter.like(1.0));
  const Emitted isNegative = (absolute(quarter) >= 2.0) | equal(quarter, quarter.like(-1.0));
  const Emitted size = select(isOdd, cosine, sine);
  Emitted value = select(isNegative, -size, size) + (wide - wide); // infinity and NaN give NaN
  if (single)
    value = value.narrow(x.f32());
  return offset == 0 ? select(equal(x, x.like(0.0)), x, value) : value;
}

Emitted buildSin(const MathTarget &target, Emitted x) { return build(target, x, 0); }
Emitted buildCos(const MathTarget &target, Emitted x) { return build(target, x, 1); }

Emitted buildTan(const MathTarget &target, Emitted x) {
  const bool single = x.width() == 32;
  const Emitted wide = x.extend(x.f64());
  const Angle angle = reduce(target, wide, single);
  const auto [sine, cosine] = circle(target, angle.r, single);
  const Emitted half = angle.quarters * 0.5, isOdd = differs(target.roundEven(half), half);
  Emitted value = select(isOdd, -cosine, sine) / select(isOdd, sine, cosine) + (wide - wide);
  if (single)
    value = value.narrow(x.f32());
  return select(equal(x, x.like(0.0)), x, value);
}

} // namespace

ArrayRef<MathFunction> compiler::trigonometricFunctions() {
  // f32: any finite x. f64: |x| < 2^20; beyond, the only guarantee is a finite sine and cosine.
  static constexpr MathFunction table[] = {
      {"math.sin", ofOne<buildSin>, 1, 2, 119},
      {"math.cos", ofOne<buildCos>, 1, 2, 117},
      {"math.tan", ofOne<buildTan>, 1, 4, 112},
  };
  return table;
}
