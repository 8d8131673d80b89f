// The interpreter's arithmetic: intervals of reals and of integers, and the rounding of a float dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include <cmath>
#include <initializer_list>
#include <limits>

namespace halftone::dialect {

/// A float that lies in [low, high]. Both bounds NaN: the float is NaN. One bound NaN: it may be anything.
struct Interval {
  double low, high;

  static Interval point(double value) { return {value, value}; }
  static Interval nan() { return point(std::numeric_limits<double>::quiet_NaN()); }
  static Interval any() { return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}; }
  bool isNan() const { return std::isnan(low) && std::isnan(high); }
  bool isAny() const { return std::isnan(low) != std::isnan(high); }
  bool isBounded() const { return !std::isnan(low) && !std::isnan(high); }
  bool isPoint() const { return low == high || isNan(); }
  bool mayBeInfinite() const { return std::isinf(low) || std::isinf(high); }
  bool mayBeZero() const { return low <= 0 && high >= 0; }
  bool contains(double value) const { return isAny() || (isNan() ? std::isnan(value) : low <= value && value <= high); }
  /// The smallest interval that holds both.
  static Interval hull(Interval a, Interval b);
  /// The smallest interval that holds all; anything when some but not all are NaN.
  static Interval of(std::initializer_list<double> values);
};

/// Any value of an integer type of up to 64 bits, signed or not.
using Int = __int128;

struct IntInterval {
  Int low, high;
  bool isPoint() const { return low == high; }
};

/// How results of one float dtype round.
class Rounding {
public:
  /// `strict`: compiled code rounds each result to the dtype.
  explicit Rounding(DType dtype, bool strict = false);

  /// Once to the nearest f32 (f64), then once to the dtype when it is narrower.
  double round(double exact) const;
  /// The values a result may have in compiled code, which may keep a narrow float in f32; `ulps` widens by units in the
  /// last place of f32 (f64); `unrounded` says that the result may not have been rounded even to f32.
  Interval spread(Interval exact, double ulps, bool unrounded) const;
  /// Rounds once to the dtype, as a rounding cast and the end of a kernel do.
  Interval store(Interval value) const;

  DType dtype;
  bool wide; // f64
  bool strict;
  /// Half a unit of the last place of 1, the smallest positive value and the largest finite one, of f32 (f64).
  double unit, tiny, largest;

private:
  double nearest(double exact) const;
};

/// A sum of doubles with the error of about one rounding, however many terms it has: what each addition rounds away is
/// added up beside it.
class CompensatedSum {
public:
  void add(double term) {
    const double next = sum + term;
    lost += std::fabs(sum) < std::fabs(term) ? (term - next) + sum : (sum - next) + term;
    sum = next;
  }
  double value() const { return sum + lost; }

private:
  double sum = 0, lost = 0;
};

/// A sum of floats in any order, each addition rounded to f32 (f64).
class SumBound {
public:
  void add(Interval term);
  /// `roundings` of each term besides those of the additions. Sums up to `flushed` in size may have become 0.
  Interval finish(const Rounding &rounding, int roundings, double flushed = 0) const;
  /// The same of a reduction (`reduce`), whose terms go through few additions each: at most `mostAdditions()`.
  Interval finishReduction(const Rounding &rounding) const;
  /// The additions that a term of a reduction of `count` terms goes through at most. A kernel adds chunks of 32 terms and the
  /// totals of chunks in pairs; up to four kernels and levels of accumulators make a reduction.
  static int64_t mostAdditions(int64_t count);

private:
  Interval finishSteps(const Rounding &rounding, int64_t steps, double flushed) const;

  CompensatedSum low, high;
  double magnitude = 0;
  int64_t count = 0;
  bool unknown = false, nan = false, plusInfinity = false, minusInfinity = false;
};

// Bounds of exact results. Those of one op alone stand with its function (InterpreterReals.cpp).
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
Interval absolute(Interval x);
Interval maximum(Interval a, Interval b);
Interval minimum(Interval a, Interval b);
/// Bounds of a function that only rises, or only falls.
Interval monotone(double (*function)(double), Interval x);
/// The same of a function that is NaN outside of [-1, 1].
Interval monotoneInUnit(double (*function)(double), Interval x);

} // namespace halftone::dialect
