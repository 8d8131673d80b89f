// The interpreter's sums of products, for contractions and convolutions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/InterpreterOps.h"
#include "runtime/base/Half.h"

namespace halftone::dialect {

/// The rounding of the sums of one op.
struct ProductRules {
  /// The rules for products of two elements of type `factor`, accumulated in `sum` and returned as `element`.
  ProductRules(mlir::Type factor, mlir::Type sum, mlir::Type element, const InterpreterOptions &options)
      : intervals(options.intervals), result(formatOf(element), options.strict), accumulate(formatOf(sum)),
        flushed(!options.strict && factor.isBF16() ? 0x1p-126 : 0) {}

  bool intervals;
  Rounding result, accumulate;
  /// The maximum loss of a step in compiled code whose bf16 product instruction flushes subnormal numbers.
  double flushed;

private:
  static DType formatOf(mlir::Type type) { return mlir::isa<mlir::FloatType>(type) ? *dtypeOf(type) : DType::float64; }
};

/// A sum of products of floats, in the order of the add() calls.
class RealProducts {
public:
  explicit RealProducts(const ProductRules &rules) : rules(rules) {}

  void add(Interval a, Interval b) {
    if (rules.intervals)
      bound.add(multiply(a, b));
    else if (rules.accumulate.wide)
      wide = std::fma(a.low, b.low, wide);
    else
      narrow = std::fma(static_cast<float>(a.low), static_cast<float>(b.low), narrow);
  }
  /// Adds a product with a 0 that compiled code may omit.
  void addNothing(Interval b) {
    if (!rules.intervals)
      add(Interval::point(0), b);
    else if (!b.isBounded() || b.mayBeInfinite())
      bound.add(Interval::any());
  }
  Interval finish() const {
    if (rules.intervals)
      return rules.result.spread(bound.finish(rules.accumulate, 1, rules.flushed), 0, false);
    return Interval::point(rules.accumulate.wide ? wide : roundTo(rules.result.dtype, narrow));
  }

private:
  const ProductRules &rules;
  SumBound bound;
  double wide = 0;
  float narrow = 0;
};

/// A sum of products of integers.
class IntProducts {
public:
  explicit IntProducts(const IntFormat &format) : format(format) {}
  void add(IntInterval x, IntInterval y) {
    const Int corners[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    exact &= x.isPoint() && y.isPoint();
    sum.low += *std::min_element(corners, corners + 4);
    sum.high += *std::max_element(corners, corners + 4);
    if (exact)
      sum.low = sum.high = format.wrap(sum.low);
    else if (!format.holds(sum.low) || !format.holds(sum.high))
      sum = {format.low, format.high};
  }
  IntInterval finish() const { return sum; }

private:
  const IntFormat &format;
  IntInterval sum{0, 0};
  bool exact = true;
};

} // namespace halftone::dialect
