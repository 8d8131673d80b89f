// Intervals of reals, and the rounding of a float dtype.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Interval.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <bit>
#include <cfloat>

namespace halftone::dialect {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Interval Interval::hull(Interval a, Interval b) {
  if (a.isNan() && b.isNan())
    return a;
  return a.isBounded() && b.isBounded() ? Interval{std::min(a.low, b.low), std::max(a.high, b.high)} : any();
}

Interval Interval::of(std::initializer_list<double> values) {
  Interval result = point(*values.begin());
  for (double value : values)
    result = hull(result, point(value));
  return result;
}

Rounding::Rounding(DType dtype, bool strict) : dtype(dtype), wide(dtype == DType::float64), strict(strict) {
  unit = wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
  tiny = wide ? 0x1p-1074 : 0x1p-149;
  largest = wide ? DBL_MAX : FLT_MAX;
}

double Rounding::nearest(double exact) const { return wide ? exact : roundTo(DType::float32, exact); }

double Rounding::round(double exact) const { return roundTo(dtype, nearest(exact)); }

Interval Rounding::spread(Interval exact, double ulps, bool unrounded) const {
  if (!exact.isBounded())
    return exact;
  auto ulp = [&](double value) {
    return std::isinf(value) ? 0 : std::max(std::ldexp(2 * unit, std::ilogb(value == 0 ? tiny : value)), tiny);
  };
  Interval wider{exact.low - ulps * ulp(exact.low), exact.high + ulps * ulp(exact.high)};
  Interval rounded{nearest(wider.low), nearest(wider.high)};
  if (strict)
    return store(rounded);
  return Interval::hull(unrounded ? Interval::hull(wider, rounded) : rounded, store(rounded));
}

Interval Rounding::store(Interval value) const {
  if (!value.isBounded())
    return value;
  Interval stored{roundTo(dtype, value.low), roundTo(dtype, value.high)};
  // A dtype without infinities gives NaN beyond its range, on either side.
  return value.isPoint() || stored.isBounded() ? stored : Interval::any();
}

void SumBound::add(Interval term) {
  ++count;
  if (term.isNan())
    nan = true;
  else if (term.isAny() || (!term.isPoint() && (std::isinf(term.low) || std::isinf(term.high))))
    unknown = true;
  else if (std::isinf(term.low))
    (term.low > 0 ? plusInfinity : minusInfinity) = true;
  else {
    low.add(term.low);
    high.add(term.high);
    magnitude += std::max(std::fabs(term.low), std::fabs(term.high));
  }
}

Interval SumBound::finish(const Rounding &rounding, int roundings, double flushed) const {
  return finishSteps(rounding, std::max<int64_t>(count - 1, 0) + roundings, flushed);
}

Interval SumBound::finishReduction(const Rounding &rounding) const {
  return finishSteps(rounding, maxAdditions(count), 0);
}

int64_t SumBound::maxAdditions(int64_t count) {
  constexpr int64_t stages = 4, chunk = 32;
  const auto pairs = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 0))));
  return std::min(std::max<int64_t>(count - 1, 0), stages * (chunk + pairs));
}

Interval SumBound::finishSteps(const Rounding &rounding, int64_t additions, double flushed) const {
  if (nan || (plusInfinity && minusInfinity))
    return Interval::nan();
  // Twice the first-order bound covers the higher orders and the rounding of the bounds themselves.
  const auto steps = static_cast<double>(additions);
  double error = steps == 0 || count == 0 ? 0 : 2 * steps * rounding.unit * magnitude + steps * rounding.tiny;
  error += static_cast<double>(count) * flushed;
  if (unknown || !(magnitude + error <= rounding.largest))
    return Interval::any();
  if (plusInfinity || minusInfinity)
    return Interval::point(plusInfinity ? infinity : -infinity);
  return {low.value() - error, high.value() + error};
}

// Widens bounds that were rounded in double.
static Interval outward(Interval bound, bool lowInexact, bool highInexact) {
  if (lowInexact && std::isfinite(bound.low))
    bound.low = std::nextafter(bound.low, -infinity);
  if (highInexact && std::isfinite(bound.high))
    bound.high = std::nextafter(bound.high, infinity);
  return bound;
}

static bool sumIsInexact(double a, double b) {
  double sum = a + b, other = sum - a;
  return (a - (sum - other)) + (b - other) != 0;
}

Interval add(Interval a, Interval b) {
  if (a.isAny() || b.isAny())
    return a.isNan() || b.isNan() ? Interval::nan() : Interval::any();
  if (!(a.isPoint() && b.isPoint()) &&
      ((a.high == infinity && b.low == -infinity) || (a.low == -infinity && b.high == infinity)))
    return Interval::any();
  return outward(Interval::of({a.low + b.low, a.high + b.high}), sumIsInexact(a.low, b.low),
                 sumIsInexact(a.high, b.high));
}

Interval subtract(Interval a, Interval b) { return add(a, b.isAny() ? b : Interval{-b.high, -b.low}); }

Interval multiply(Interval a, Interval b) {
  if (a.isAny() || b.isAny())
    return a.isNan() || b.isNan() ? Interval::nan() : Interval::any();
  if (!(a.isPoint() && b.isPoint()) && ((a.mayBeZero() && b.mayBeInfinite()) || (a.mayBeInfinite() && b.mayBeZero())))
    return Interval::any();
  Interval product = Interval::of({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  auto inexact = [](double x, double y) { return std::fma(x, y, -(x * y)) != 0; };
  bool any = inexact(a.low, b.low) || inexact(a.low, b.high) || inexact(a.high, b.low) || inexact(a.high, b.high);
  return product.isBounded() ? outward(product, any, any) : product;
}

Interval divide(Interval a, Interval b) {
  if (a.isNan() || b.isNan())
    return Interval::nan();
  if (a.isAny() || b.isAny() || (!b.isPoint() && b.mayBeZero()) || (!a.isPoint() && a.mayBeZero() && b.mayBeZero()))
    return Interval::any();
  if (!(a.isPoint() && b.isPoint()) && a.mayBeInfinite() && b.mayBeInfinite())
    return Interval::any();
  Interval quotient = Interval::of({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  auto inexact = [](double x, double y) { return std::fma(-(x / y), y, x) != 0; };
  bool any = inexact(a.low, b.low) || inexact(a.low, b.high) || inexact(a.high, b.low) || inexact(a.high, b.high);
  return quotient.isBounded() ? outward(quotient, any, any) : quotient;
}

Interval absolute(Interval x) {
  Interval ends = monotone([](double v) { return std::fabs(v); }, x);
  if (x.isBounded() && x.low < 0 && x.high > 0)
    ends.low = 0;
  return ends;
}

Interval maximum(Interval a, Interval b) {
  if (a.isNan() || b.isNan())
    return Interval::nan();
  if (a.isAny() || b.isAny())
    return Interval::any();
  return {a.low >= b.low ? a.low : b.low, a.high >= b.high ? a.high : b.high};
}
Interval minimum(Interval a, Interval b) {
  if (a.isNan() || b.isNan())
    return Interval::nan();
  if (a.isAny() || b.isAny())
    return Interval::any();
  return {a.low <= b.low ? a.low : b.low, a.high <= b.high ? a.high : b.high};
}

Interval monotone(double (*function)(double), Interval x) {
  return x.isAny() ? x : Interval::of({function(x.low), function(x.high)});
}

Interval monotoneInUnit(double (*function)(double), Interval x) {
  // Both bounds may be outside of the domain while values between them are not.
  return x.low < -1 && x.high > 1 ? Interval::any() : monotone(function, x);
}

} // namespace halftone::dialect
