// Intervals: bounds of exact results, of rounded results and of sums.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Interval.h"
#include "runtime/base/Half.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace halftone;
using namespace halftone::dialect;

static const double inf = INFINITY;

TEST_CASE("interval arithmetic holds the results of all points inside") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-3, 3), part(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    double a = uniform(random), b = uniform(random), c = uniform(random), d = uniform(random);
    Interval x{std::min(a, b), std::max(a, b)}, y{std::min(c, d), std::max(c, d)};
    double p = x.low + part(random) * (x.high - x.low), q = y.low + part(random) * (y.high - y.low);
    CHECK(add(x, y).contains(p + q));
    CHECK(subtract(x, y).contains(p - q));
    CHECK(multiply(x, y).contains(p * q));
    CHECK(divide(x, y).contains(p / q));
    CHECK(monotoneInUnit([](double v) { return std::asin(v); }, x).contains(std::asin(p)));
    CHECK(absolute(x).contains(std::fabs(p)));
    CHECK(maximum(x, y).contains(std::max(p, q)));
    CHECK(minimum(x, y).contains(std::min(p, q)));
  }
}

TEST_CASE("the least magnitude inside an interval is found") {
  CHECK(absolute({-1, 2}).low == 0);
  CHECK(absolute({-1, 2}).high == 2);
}

TEST_CASE("an interval tells certain NaN from possible NaN") {
  CHECK(add(Interval::nan(), Interval::any()).isNan());
  CHECK(add(Interval::point(inf), Interval::point(-inf)).isNan());
  CHECK(subtract({1, inf}, {1, inf}).isAny());
  CHECK(multiply({-1, 1}, Interval::point(inf)).isAny());
  CHECK(divide({1, 2}, {-1, 1}).isAny());
  CHECK(divide({1, 2}, Interval::point(0)).low == inf);
  CHECK(maximum(Interval::any(), Interval::nan()).isNan());
  CHECK(monotone([](double v) { return std::sqrt(v); }, {-1, 1}).isAny());
  CHECK(monotone([](double v) { return std::sqrt(v); }, {-2, -1}).isNan());
  CHECK(monotoneInUnit([](double v) { return std::asin(v); }, {-2, 2}).isAny());
  CHECK(monotoneInUnit([](double v) { return std::asin(v); }, {1.5, 2}).isNan());
  CHECK(Interval::any().contains(NAN));
  CHECK(Interval::any().contains(7));
  CHECK(Interval::nan().contains(NAN));
  CHECK_FALSE(Interval::nan().contains(7));
}

TEST_CASE("a narrow result may stay in f32 until it is stored") {
  Rounding half(DType::float16);
  double exact = 1 + 0x1p-12 + 0x1p-30;
  CHECK(half.round(exact) == 1);
  Interval spread = half.spread(Interval::point(exact), 0, false);
  CHECK(spread.contains(1));
  CHECK(spread.contains(roundTo(DType::float32, exact)));
  CHECK_FALSE(spread.contains(exact));
  CHECK(half.spread(Interval::point(exact), 0, true).contains(exact));
  CHECK(half.store(spread).isPoint());
  CHECK(half.spread(Interval::point(70000), 0, false).high == inf);
  CHECK(half.spread(Interval::point(70000), 0, false).contains(70000));
  CHECK(Rounding(DType::float8_e4m3fn).store({100, 1000}).isAny());
  CHECK(Rounding(DType::float8_e4m3fn).store(Interval::point(1000)).isNan());
}

TEST_CASE("in strict mode a narrow result is rounded") {
  Rounding half(DType::float16, true);
  Interval spread = half.spread(Interval::point(1 + 0x1p-12 + 0x1p-30), 0, true);
  CHECK(spread.isPoint());
  CHECK(spread.low == 1);
  CHECK(Rounding(DType::float32, true).spread(Interval::point(1 + 0x1p-30), 0, true).isPoint());
}

TEST_CASE("intervals of transcendentals are widened by their ulps") {
  Rounding single(DType::float32);
  Interval spread = single.spread(Interval::point(1.5), 4, false);
  CHECK(spread.low == 1.5 - 4 * 0x1p-23);
  CHECK(spread.high == 1.5 + 4 * 0x1p-23);
}

TEST_CASE("a sum's bound grows with its length and magnitude, and knows overflow") {
  Rounding single(DType::float32);
  SumBound one;
  one.add(Interval::point(0.1f));
  CHECK(one.finish(single, 0).isPoint());
  SumBound many;
  for (int i = 0; i < 1000; ++i)
    many.add(Interval::point(i % 2 ? 1.0 : -1.0));
  Interval bound = many.finish(single, 0);
  CHECK(bound.contains(0));
  CHECK(bound.high < 1000 * 1000 * 0x1p-22);
  SumBound overflow;
  overflow.add(Interval::point(3e38));
  overflow.add(Interval::point(3e38));
  overflow.add(Interval::point(-3e38));
  CHECK(overflow.finish(single, 0).isAny());
  SumBound infinite;
  infinite.add(Interval::point(inf));
  infinite.add(Interval::point(1));
  CHECK(infinite.finish(single, 0).low == inf);
  infinite.add(Interval::point(-inf));
  CHECK(infinite.finish(single, 0).isNan());
}

TEST_CASE("a reduction's bound of many equal doubles holds the exact sum, which a sum in pairs has") {
  const Rounding wide(DType::float64);
  for (const double term : {0.1, 1.0 / 3, std::tanh(1.0), -0.7}) {
    SumBound bound;
    for (int i = 0; i < 1 << 14; ++i)
      bound.add(Interval::point(term));
    const Interval sum = bound.finishReduction(wide);
    INFO(term);
    CHECK(sum.contains(std::ldexp(term, 14)));
    CHECK(sum.high - sum.low < std::fabs(std::ldexp(term, 14)) * 1e-12);
  }
}
