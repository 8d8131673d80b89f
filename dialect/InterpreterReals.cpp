// The interpreter's elementwise float functions: the value, the bounds and the error of each.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// A float function: its value in double, its bounds, and the maximum error of compiled code.
struct RealFunction {
  double (*exact)(double, double);
  Interval (*bound)(Interval, Interval);
  double ulps = 0;
  bool mayFuse = false; // into a sum, without being rounded first
  double slack = 0;     // absolute error near zero
};

template <double (*F)(double)> double first(double x, double) { return F(x); }
template <double (*F)(double)> Interval rising(Interval x, Interval) { return monotone(F, x); }
template <Interval (*F)(Interval)> Interval firstBound(Interval x, Interval) { return F(x); }
template <double (*F)(double)> Interval inUnit(Interval x, Interval) { return monotoneInUnit(F, x); }
template <double (*F)(double)> RealFunction unary(double ulps) { return {first<F>, rising<F>, ulps}; }

double negate(double x) { return -x; }
double sign(double x) { return x == 0 || std::isnan(x) ? x : std::copysign(1.0, x); }
double exp(double x) { return std::exp(x); }
double expm1(double x) { return std::expm1(x); }
double log(double x) { return std::log(x); }
double log1p(double x) { return std::log1p(x); }
double exp2(double x) { return std::exp2(x); }
double log2(double x) { return std::log2(x); }
double log10(double x) { return std::log10(x); }
double sqrt(double x) { return std::sqrt(x); }
double cbrt(double x) { return std::cbrt(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double tanh(double x) { return std::tanh(x); }
double sinh(double x) { return std::sinh(x); }
double cosh(double x) { return std::cosh(x); }
double asinh(double x) { return std::asinh(x); }
double acosh(double x) { return std::acosh(x); }
double atanh(double x) { return std::atanh(x); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double erf(double x) { return std::erf(x); }
double sin(double x) { return std::sin(x); }
double cos(double x) { return std::cos(x); }
double tan(double x) { return std::tan(x); }
double asin(double x) { return std::asin(x); }
double acos(double x) { return std::acos(x); }
double atan(double x) { return std::atan(x); }
double fabs(double x) { return std::fabs(x); }
double floor(double x) { return std::floor(x); }
double ceil(double x) { return std::ceil(x); }
double roundEven(double x) { return std::nearbyint(x); }
double relu(double x) { return x >= 0 || std::isnan(x) ? x : 0.0; }
double plus(double a, double b) { return a + b; }
double minus(double a, double b) { return a - b; }
double times(double a, double b) { return a * b; }
double over(double a, double b) { return a / b; }
double modulo(double a, double b) { return std::fmod(a, b); }
double pow(double a, double b) { return std::pow(a, b); }
double atan2(double a, double b) { return std::atan2(a, b); }
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }
double smaller(double a, double b) { return a <= b || std::isnan(a) ? a : b; }

Interval remainder(Interval a, Interval b) {
  if (a.isNan() || b.isNan())
    return Interval::nan();
  if (a.isAny() || b.isAny())
    return Interval::any();
  if (a.isPoint() && b.isPoint())
    return Interval::point(std::fmod(a.low, b.low));
  if (a.mayBeInfinite() || b.mayBeZero())
    return Interval::any();
  // The result of fmod has the sign of a, and its magnitude does not exceed the larger of |b| and |a|.
  double bound = std::min(std::max(std::fabs(b.low), std::fabs(b.high)), std::max(std::fabs(a.low), std::fabs(a.high)));
  return {a.low < 0 ? -bound : 0, a.high > 0 ? bound : 0};
}

Interval power(Interval a, Interval b) {
  if (a.isAny() || b.isAny())
    return Interval::any();
  if (a.isPoint() && b.isPoint())
    return Interval::point(std::pow(a.low, b.low));
  if (!a.isBounded() || !b.isBounded())
    return Interval::any();
  Interval corners = Interval::of(
      {std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low), std::pow(a.high, b.high)});
  if (a.low >= 0)
    return corners;
  bool wholeExponent = b.isPoint() && std::nearbyint(b.low) == b.low;
  if (!wholeExponent || (b.low < 0 && a.high >= 0))
    return Interval::any();
  return a.high > 0 ? Interval::hull(corners, Interval::point(std::pow(0.0, b.low))) : corners;
}

// Extrema of the cosine are at even and odd multiples of pi, shifted by `shift`.
Interval wave(double (*function)(double), Interval x, double shift) {
  if (!x.isBounded() || x.isPoint())
    return x.isAny() ? x : Interval::point(function(x.low));
  if (std::isinf(x.low) || std::isinf(x.high))
    return Interval::any();
  Interval result = Interval::of({function(x.low), function(x.high)});
  auto holdsMultiple = [&](double offset) {
    double first = std::ceil((x.low - offset) / (2 * M_PI)) * 2 * M_PI + offset;
    return first <= x.high;
  };
  if (holdsMultiple(shift))
    result.high = 1;
  if (holdsMultiple(shift + M_PI))
    result.low = -1;
  return result;
}
Interval sine(Interval x) { return wave(sin, x, M_PI / 2); }
Interval cosine(Interval x) { return wave(cos, x, 0); }

// Poles at odd multiples of pi / 2; the function is increasing between them.
Interval tangent(Interval x) {
  if (!x.isBounded() || x.isPoint())
    return x.isAny() ? x : Interval::point(std::tan(x.low));
  const bool crossesPole = !(x.high - x.low < M_PI) || std::tan(x.low) > std::tan(x.high);
  return crossesPole ? Interval::any() : Interval{std::tan(x.low), std::tan(x.high)};
}

Interval hyperbolicCosine(Interval x) { return monotone(cosh, absolute(x)); }

/// The angle of the point (x, y), like C's atan2.
Interval angle(Interval y, Interval x) {
  if (y.isNan() || x.isNan())
    return Interval::nan();
  if (y.isPoint() && x.isPoint())
    return Interval::point(std::atan2(y.low, x.low));
  if (y.isAny() || x.isAny())
    return Interval::any();
  // The angle is discontinuous where y changes sign and x is not positive. Elsewhere the extrema are at corners.
  if (y.mayBeZero() && x.low <= 0)
    return {-M_PI, M_PI};
  return Interval::of(
      {std::atan2(y.low, x.low), std::atan2(y.low, x.high), std::atan2(y.high, x.low), std::atan2(y.high, x.high)});
}

constexpr double libraryUlps = 4;  // the error of a transcendental function
constexpr double composedUlps = 6; // the error of a function composed of others
constexpr double quotientUlps = 1; // the error of a multiplication by a reciprocal

RealFunction realFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, RealFunction>(op)
      .Case([](AbsOp) { return RealFunction{first<fabs>, firstBound<absolute>, 0, true}; })
      .Case([](NegOp) { return RealFunction{first<negate>, rising<negate>, 0, true}; })
      .Case([](SignOp) { return unary<sign>(0); })
      .Case([](ExpOp) { return unary<exp>(libraryUlps); })
      .Case([](Exp2Op) { return unary<exp2>(libraryUlps); })
      .Case([](Expm1Op) { return unary<expm1>(libraryUlps); })
      .Case([](LogOp) { return unary<log>(libraryUlps); })
      .Case([](Log2Op) { return unary<log2>(libraryUlps); })
      .Case([](Log10Op) { return unary<log10>(libraryUlps); })
      .Case([](Log1pOp) { return unary<log1p>(libraryUlps); })
      .Case([](SqrtOp) { return unary<sqrt>(0); })
      .Case([](CbrtOp) { return unary<cbrt>(libraryUlps); })
      .Case([](RsqrtOp) { return unary<rsqrt>(composedUlps); })
      .Case([](TanhOp) { return unary<tanh>(libraryUlps); })
      .Case([](SinhOp) { return unary<sinh>(libraryUlps); })
      .Case([](CoshOp) { return RealFunction{first<cosh>, firstBound<hyperbolicCosine>, libraryUlps}; })
      .Case([](AsinhOp) { return unary<asinh>(libraryUlps); })
      .Case([](AcoshOp) { return unary<acosh>(libraryUlps); })
      .Case([](AtanhOp) { return RealFunction{first<atanh>, inUnit<atanh>, libraryUlps}; })
      .Case([](LogisticOp) {
        // Where e^-x overflows, 1 / inf is 0.
        return RealFunction{first<logistic>, rising<logistic>, composedUlps, false, 0x1p-126};
      })
      .Case([](ErfOp) { return unary<erf>(libraryUlps); })
      .Case([](SinOp) { return RealFunction{first<sin>, firstBound<sine>, libraryUlps}; })
      .Case([](CosOp) { return RealFunction{first<cos>, firstBound<cosine>, libraryUlps}; })
      .Case([](TanOp) { return RealFunction{first<tan>, firstBound<tangent>, libraryUlps}; })
      .Case([](AsinOp) { return RealFunction{first<asin>, inUnit<asin>, libraryUlps}; })
      .Case([](AcosOp) { return RealFunction{first<acos>, inUnit<acos>, libraryUlps}; })
      .Case([](AtanOp) { return unary<atan>(libraryUlps); })
      .Case([](Atan2Op) { return RealFunction{atan2, angle, libraryUlps}; })
      .Case([](FloorOp) { return unary<floor>(0); })
      .Case([](CeilOp) { return unary<ceil>(0); })
      .Case([](RoundEvenOp) { return unary<roundEven>(0); })
      .Case([](ReluOp) { return unary<relu>(0); })
      .Case([](AddOp) { return RealFunction{plus, add}; })
      .Case([](SubOp) { return RealFunction{minus, subtract}; })
      .Case([](MulOp) { return RealFunction{times, multiply, 0, true}; })
      .Case([](DivOp) { return RealFunction{over, divide, quotientUlps}; })
      .Case([](RemOp) { return RealFunction{modulo, remainder}; })
      .Case([](PowOp) { return RealFunction{pow, power, libraryUlps}; })
      .Case([](MaximumOp) { return RealFunction{larger, maximum}; })
      .Case([](MinimumOp) { return RealFunction{smaller, minimum}; })
      .Default(RealFunction{nullptr, nullptr});
}

// In f64 the reference itself is inexact; the error of a power grows with its logarithm.
double ulpsOf(Operation *op, const RealFunction &function, Interval bound, const Rounding &rounding) {
  if (rounding.strict && isa<DivOp>(op)) // correctly rounded
    return 0;
  if (!rounding.wide || function.ulps == 0)
    return function.ulps;
  double ulps = function.ulps + 2;
  if (isa<PowOp>(op))
    for (double end : {bound.low, bound.high})
      if (std::isfinite(end) && end != 0)
        ulps += 4 * std::fabs(std::log(std::fabs(end)));
  return ulps;
}

} // namespace

std::optional<TensorData> evaluateReals(Operation *op, Operands x, const InterpreterOptions &options) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  RealFunction function = realFunction(op);
  if (!function.exact)
    return std::nullopt;
  TensorWriter writer(type);
  Rounding rounding(*dtypeOf(type.getElementType()), options.strict);
  const TensorData &a = *x.front(), &b = *x.back();
  for (int64_t i = 0, e = a.size(); i < e; ++i) {
    if (!options.intervals) {
      writer.real(i, rounding.round(function.exact(a.low[i], b.low[i])));
      continue;
    }
    Interval bound = function.bound(realAt(a, i), realAt(b, i));
    // Compiled f64 sines, cosines and tangents guarantee nothing for large arguments.
    if (rounding.wide && isa<SinOp, CosOp, TanOp>(op) && std::max(std::fabs(a.low[i]), std::fabs(a.high[i])) >= 0x1p20)
      bound = Interval::any();
    if (function.slack != 0 && bound.isBounded())
      bound = {std::max(bound.low - function.slack, 0.0), bound.high + function.slack};
    writer.real(i, rounding.spread(bound, ulpsOf(op, function, bound, rounding), function.mayFuse));
  }
  return writer.take();
}

} // namespace halftone::dialect
