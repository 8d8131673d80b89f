// Interval arithmetic of the interpreter over reals and integers, and the rounding of a float dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include <cmath>
#include <initializer_list>
#include <limits>

namespace halftone::dialect {

/// A float in [low, high]. If both bounds are NaN, the float is NaN; if one is, it may be anything.
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
  /// The smallest interval that contains both.
  static Interval hull(Interval a, Interval b);
  /// The smallest interval that contains all; anything if some but not all are NaN.
  static Interval of(std::initializer_list<double> values);
};

/// Any value of an integer type of up to 64 bits, signed or not.
using Int = __int128;

struct IntInterval {
  Int low, high;
  bool isPoint() const { return low == high; }
};

/// The rounding of results of one float dtype.
class Rounding {
public:
  /// `strict`: compiled code rounds each result to the dtype.
  explicit Rounding(DType dtype, bool strict = false);

  /// Rounds once to the nearest f32 (f64), then once to the dtype if it is narrower.
  double round(double exact) const;
  /// The values that a result may have in compiled code, which may keep a narrow float in f32. `ulps` widens by units
  /// in the last place of f32 (f64); `unrounded` means that the result may not even have been rounded to f32.
  Interval spread(Interval exact, double ulps, bool unrounded) const;
  /// Rounds once to the dtype, as a rounding cast and the end of a kernel do.
  Interval store(Interval value) const;

  DType dtype;
  bool wide; // f64
  bool strict;
  /// Half a unit in the last place of 1, the smallest positive value and the largest finite one, for f32 (f64).
  double unit, tiny, largest;

private:
  double nearest(double exact) const;
};

/// A compensated sum of doubles: the rounding errors of the additions are accumulated separately, so the total error is
/// about one rounding for any number of terms.
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

/// Bounds on a sum of floats in any order, each addition rounded to f32 (f64).
class SumBound {
public:
  void add(Interval term);
  /// `roundings` is the number of roundings of each term in addition to those of the additions. Sums with magnitude up
  /// to `flushed` may have become 0.
  Interval finish(const Rounding &rounding, int roundings, double flushed = 0) const;
  /// Like finish(), for a reduction (`reduce`), in which each term takes part in at most `maxAdditions()` additions.
  Interval finishReduction(const Rounding &rounding) const;
  /// The maximum number of additions for a term of a reduction of `count` terms. A kernel adds chunks of 32 terms and
  /// sums the chunks pairwise; a reduction consists of up to four kernels and levels of accumulators.
  static int64_t maxAdditions(int64_t count);

private:
  Interval finishSteps(const Rounding &rounding, int64_t steps, double flushed) const;

  CompensatedSum low, high;
  double magnitude = 0;
  int64_t count = 0;
  bool unknown = false, nan = false, plusInfinity = false, minusInfinity = false;
};

// Bounds of exact results. Bounds specific to one op are in InterpreterReals.cpp.
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
Interval absolute(Interval x);
Interval maximum(Interval a, Interval b);
Interval minimum(Interval a, Interval b);
/// Bounds of a monotone function.
Interval monotone(double (*function)(double), Interval x);
/// Like monotone(), for a function that is NaN outside of [-1, 1].
Interval monotoneInUnit(double (*function)(double), Interval x);

} // namespace halftone::dialect
