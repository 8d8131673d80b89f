// The interpreter's sequential reductions, by kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/InterpreterOps.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::dialect {

/// A sequential float reduction of one kind.
class RealReduction {
public:
  RealReduction(ReduceKind kind, DType result, const InterpreterOptions &options)
      : kind(kind), intervals(options.intervals), accumulate(result == DType::float64 ? result : DType::float32),
        result(result, options.strict) {
    value = Interval::point(kind == ReduceKind::sum    ? 0.0
                            : kind == ReduceKind::prod ? 1.0
                            : kind == ReduceKind::max  ? -std::numeric_limits<double>::infinity()
                                                       : std::numeric_limits<double>::infinity());
  }

  void add(Interval x) {
    ++count;
    if (kind == ReduceKind::max || kind == ReduceKind::min) {
      value = kind == ReduceKind::max ? maximum(value, x) : minimum(value, x);
    } else if (kind == ReduceKind::sum) {
      if (intervals)
        sum.add(x);
      else
        value = Interval::point(accumulate.round(value.low + x.low));
    } else if (!intervals) {
      value = Interval::point(accumulate.round(value.low * x.low));
    } else {
      value = multiply(value, x);
      if (x.isBounded())
        growth *= std::max({1.0, std::fabs(x.low), std::fabs(x.high)});
    }
  }

  Interval finish() const {
    if (kind == ReduceKind::max || kind == ReduceKind::min)
      return intervals ? result.spread(value, 0, false) : Interval::point(result.round(value.low));
    if (!intervals)
      return Interval::point(roundTo(result.dtype, value.low));
    if (kind == ReduceKind::sum)
      return result.spread(sum.finishReduction(accumulate), 0, false);
    if (!value.isBounded())
      return value;
    // Partial products may form in any order: if one leaves the range of f32, the result is unknown.
    double steps = static_cast<double>(count), relative = 2 * steps * accumulate.unit;
    if (!(growth * (1 + relative) <= accumulate.largest))
      return Interval::any();
    double least = steps * accumulate.tiny * growth;
    return result.spread(
        {value.low - std::fabs(value.low) * relative - least, value.high + std::fabs(value.high) * relative + least}, 0,
        false);
  }

private:
  ReduceKind kind;
  bool intervals;
  Rounding accumulate, result;
  Interval value;
  SumBound sum;
  double growth = 1;
  int64_t count = 0;
};

/// An integer or bool reduction.
class IntReduction {
public:
  IntReduction(ReduceKind kind, const IntFormat &format) : kind(kind), format(format) {
    Int neutral = kind == ReduceKind::prod   ? 1
                  : kind == ReduceKind::max  ? format.low
                  : kind == ReduceKind::min  ? format.high
                  : kind == ReduceKind::and_ ? format.wrap(-1)
                                             : 0;
    value = {neutral, neutral};
  }

  void add(IntInterval x) {
    bool exact = x.isPoint() && value.isPoint();
    switch (kind) {
    case ReduceKind::max:
      value = {std::max(value.low, x.low), std::max(value.high, x.high)};
      return;
    case ReduceKind::min:
      value = {std::min(value.low, x.low), std::min(value.high, x.high)};
      return;
    case ReduceKind::sum:
      value = {value.low + x.low, value.high + x.high};
      if (exact)
        value.low = value.high = format.wrap(value.low);
      else if (!format.holds(value.low) || !format.holds(value.high))
        value = {format.low, format.high};
      return;
    case ReduceKind::prod:
      value.low = value.high = format.wrap(
          static_cast<Int>(static_cast<unsigned __int128>(value.low) * static_cast<unsigned __int128>(x.low)));
      break;
    case ReduceKind::and_:
    case ReduceKind::or_:
      if (format.width == 1 || exact) { // on bools both are monotone
        bool isAnd = kind == ReduceKind::and_;
        value = {isAnd ? value.low & x.low : value.low | x.low, isAnd ? value.high & x.high : value.high | x.high};
        return;
      }
      break;
    }
    if (!exact)
      value = {format.low, format.high};
  }
  IntInterval finish() const { return value; }

private:
  ReduceKind kind;
  const IntFormat &format;
  IntInterval value;
};

} // namespace halftone::dialect
