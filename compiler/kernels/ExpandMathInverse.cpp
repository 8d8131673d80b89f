// asin, acos, atan, atan2 by polynomials on short intervals; asinh, acosh, atanh by log1p. All compute in f64.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathFunctions.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace halftone;
using namespace halftone::compiler;
using llvm::ArrayRef;

namespace {

// pi / 2 as the sum of two floats.
constexpr double halfPi = 0x1.921fb54442d18p0, halfPiLow = 0x1.1a62633145c07p-54;

Emitted squareRoot(Emitted x) { return {x.builder(), mlir::math::SqrtOp::create(x.builder(), x.value())}; }

/// The arc sine of |x|: asin(root) if |x| <= 0.5, else pi / 2 - 2 asin(root).
struct ArcSine {
  Emitted isLarge, ofRoot;
};

ArcSine arcSine(const MathTarget &target, Emitted size) {
  const Emitted isLarge = size > 0.5;
  const Emitted z = select(isLarge, (1.0 - size) * 0.5, size * size); // negative, and so NaN, outside of the domain
  const Emitted root = select(isLarge, squareRoot(z), size);
  const Emitted series = target.polynomial(
      z, {0.16666666666666666, 0.07500000000000118, 0.044642857142551895, 0.03038194447553234, 0.02237215744350722,
          0.0173528165403255, 0.013963780012203492, 0.011566459612122493, 0.009621842970094148, 0.009319560794799116,
          0.0030448799093443393, 0.019554513336377578, -0.019241671747082863, 0.029612011265156984});
  return {isLarge, target.multiplyAdd(z * series, root, root)};
}

Emitted buildAsin(const MathTarget &target, Emitted a) {
  const auto [isLarge, ofRoot] = arcSine(target, a);
  return select(isLarge, halfPi - (ofRoot * 2.0 - halfPiLow), ofRoot);
}

Emitted buildAcos(const MathTarget &target, Emitted x) {
  const auto [isLarge, ofRoot] = arcSine(target, absolute(x));
  const Emitted angle = select(isLarge & (x < 0.0), ofRoot, copySign(ofRoot, x));
  const Emitted toHalfPi = halfPi - (angle - halfPiLow);
  const Emitted large = select(x < 0.0, toHalfPi, ofRoot) * 2.0;
  return select(isLarge, large, toHalfPi);
}

/// The arc tangent of a non-negative number: pi / 2, pi / 4 or 0, plus the arc tangent of the rest, which is at most
/// tan(pi / 8) in magnitude.
Emitted arcTangent(const MathTarget &target, Emitted a) {
  const Emitted isLarge = a > 2.414213562373095, isMiddle = a > 0.4142135623730950;
  const Emitted above = select(isLarge, a.like(-1.0), select(isMiddle, a - 1.0, a));
  const Emitted below = select(isLarge, a, select(isMiddle, a + 1.0, a.like(1.0)));
  const Emitted t = above / below, z = t * t;
  const Emitted series =
      target.polynomial(z, {-0.3333333333333333, 0.19999999999999804, -0.14285714285659779, 0.11111111105150588,
                            -0.09090908753259112, 0.07692296368042296, -0.06666424760200507, 0.05878927554473668,
                            -0.05230443640686046, 0.0455154473401848, -0.034569315063240416, 0.016284375049956695});
  const Emitted base = select(isLarge, a.like(halfPi), select(isMiddle, a.like(halfPi / 2), a.like(0.0)));
  const Emitted low = select(isLarge, a.like(halfPiLow), select(isMiddle, a.like(halfPiLow / 2), a.like(0.0)));
  return base + (target.multiplyAdd(z * series, t, t) + low);
}

/// The magnitude of atan2(y, x).
Emitted angleOf(const MathTarget &target, Emitted y, Emitted x) {
  const Emitted height = absolute(y), width = absolute(x);
  // Two zeros are treated as (y, x) = (0, 1), two infinities as (1, 1).
  const Emitted bothZero = equal(height, y.like(0.0)) & equal(width, y.like(0.0));
  const Emitted bothInfinite = equal(height, y.like(infinity)) & equal(width, y.like(infinity));
  const Emitted slope = select(bothZero, y.like(0.0), select(bothInfinite, y.like(1.0), height / width));
  const Emitted angle = arcTangent(target, slope);
  const Emitted isLeft = x.bits() < 0;
  const Emitted reflected = select(isLeft, 2 * halfPi - (angle - 2 * halfPiLow), angle);
  return select(isNan(x) | isNan(y), y.like(notANumber), reflected);
}

Emitted buildAtan2(const MathTarget &target, ArrayRef<Emitted> x) {
  const Emitted angle = angleOf(target, x[0].extend(x[0].f64()), x[1].extend(x[1].f64()));
  return copySign(x[0].width() == 32 ? angle.narrow(x[0].f32()) : angle, x[0]);
}

// From here on 1 is negligible relative to the square of a, and asinh and acosh of a are log(2 a).
constexpr double large = 0x1p28;
constexpr double ln2 = 0x1.62e42fefa39efp-1;

Emitted buildAsinh(const MathTarget &target, Emitted a) {
  const Emitted square = a * a, isLarge = a > large;
  const Emitted t = a + square / (squareRoot(square + 1.0) + 1.0);
  const Emitted log = buildLog1p(target, select(isLarge, a - 1.0, t));
  return log + select(isLarge, a.like(ln2), a.like(0.0));
}

Emitted buildAcosh(const MathTarget &target, Emitted x) {
  const Emitted a = x - 1.0, isLarge = x > large;
  const Emitted t = a + squareRoot(target.multiplyAdd(a, a, a * 2.0));
  const Emitted value = buildLog1p(target, select(isLarge, a, t)) + select(isLarge, x.like(ln2), x.like(0.0));
  return select(x < 1.0, x.like(notANumber), value);
}

Emitted buildAtanh(const MathTarget &target, Emitted a) { return buildLog1p(target, a * 2.0 / (1.0 - a)) * 0.5; }

} // namespace

ArrayRef<MathFunction> compiler::inverseFunctions() {
  static constexpr MathFunction table[] = {
      {"math.asin", ofOddInF64<buildAsin>, 1, 3, 31},   {"math.acos", ofOneInF64<buildAcos>, 1, 2, 36},
      {"math.atan", ofOddInF64<arcTangent>, 1, 2, 34},  {"math.atan2", buildAtan2, 1, 3, 54},
      {"math.asinh", ofOddInF64<buildAsinh>, 1, 2, 67}, {"math.acosh", ofOneInF64<buildAcosh>, 1, 2, 64},
      {"math.atanh", ofOddInF64<buildAtanh>, 1, 2, 60},
  };
  return table;
}
