// Elementwise float functions in interval mode: the bounds contain the results of all points of the intervals.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "dialect/Interval.h"
#include <functional>
#include <random>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

const double inf = INFINITY;

Interval boundOf(const char *op, const std::vector<Interval> &operands) {
  std::vector<TensorData> tensors;
  for (Interval x : operands)
    tensors.push_back(interval("1xf64", {x.low}, {x.high}));
  TensorData y = applyOp(op, tensors, /*intervals=*/true);
  return {y.low[0], y.high[0]};
}

bool isNear(double bound, double expected) { return std::fabs(bound - expected) < 1e-9; }

struct Unary {
  const char *op;
  double (*function)(double);
};
const Unary unaries[] = {{"exp", std::exp},     {"exp2", std::exp2},   {"expm1", std::expm1}, {"log", std::log},
                         {"log2", std::log2},   {"log10", std::log10}, {"log1p", std::log1p}, {"sqrt", std::sqrt},
                         {"cbrt", std::cbrt},   {"tanh", std::tanh},   {"sinh", std::sinh},   {"cosh", std::cosh},
                         {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh}, {"erf", std::erf},
                         {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},
                         {"acos", std::acos},   {"atan", std::atan},   {"abs", std::fabs}};

struct Binary {
  const char *op;
  double (*function)(double, double);
};
const Binary binaries[] = {{"rem", std::fmod}, {"pow", std::pow}, {"atan2", std::atan2}};

/// Intervals, and a point inside of each.
struct Operand {
  explicit Operand(size_t count) : low(count), high(count), points(count) {}
  void set(size_t i, Interval x, double part) {
    low[i] = x.low;
    high[i] = x.high;
    points[i] = x.low + part * (x.high - x.low);
  }
  std::vector<double> low, high, points;
};

void checkBounds(const std::string &op, const std::vector<Operand> &operands,
                 const std::function<double(size_t)> &expected) {
  const size_t count = operands[0].points.size();
  std::vector<TensorData> tensors;
  for (const Operand &operand : operands)
    tensors.push_back(interval(std::to_string(count) + "xf64", operand.low, operand.high));
  TensorData y = applyOp(op, tensors, /*intervals=*/true);
  for (size_t i = 0; i < count; ++i) {
    INFO(op << " of [" << operands[0].low[i] << ", " << operands[0].high[i] << "] at " << operands[0].points[i]);
    CHECK(Interval{y.low[i], y.high[i]}.contains(expected(i)));
  }
}

} // namespace

TEST_CASE("the bounds of a function of floats hold its results at all points inside") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-3, 3), part(0, 1);
  const size_t count = 1000;
  Operand x(count), y(count), two(count), minusTwo(count);
  for (size_t i = 0; i < count; ++i) {
    for (Operand *operand : {&x, &y}) {
      const double a = uniform(random), b = uniform(random);
      operand->set(i, {std::min(a, b), std::max(a, b)}, part(random));
    }
    two.set(i, Interval::point(2), 0);
    minusTwo.set(i, Interval::point(-2), 0);
  }
  for (const Unary &each : unaries)
    checkBounds(each.op, {x}, [&](size_t i) { return each.function(x.points[i]); });
  for (const Binary &each : binaries)
    checkBounds(each.op, {x, y}, [&](size_t i) { return each.function(x.points[i], y.points[i]); });
  for (const Operand &power : {two, minusTwo})
    checkBounds("pow", {x, power}, [&](size_t i) { return std::pow(x.points[i], power.points[i]); });
}

TEST_CASE("the bounds of a function of floats know its extrema, its poles and where it is NaN") {
  CHECK(isNear(boundOf("sin", {{1, 2}}).high, 1));
  CHECK(isNear(boundOf("sin", {{4, 5}}).low, -1));
  CHECK(isNear(boundOf("cos", {{-1, 1}}).high, 1));
  CHECK(isNear(boundOf("cos", {{3, 3.5}}).low, -1));
  CHECK(boundOf("cos", {{0.5, 1}}).high < 0.9);
  CHECK(boundOf("sin", {{0, 100}}).low > -1.1);
  CHECK(isNear(boundOf("cosh", {{-1, 2}}).low, 1));
  CHECK(boundOf("tan", {{1, 2}}).isAny());
  CHECK(boundOf("tan", {{1, 5}}).isAny());
  CHECK(boundOf("tan", {{2, 4}}).low < -2);
  CHECK(boundOf("tan", {{2, 4}}).high < 1.2);
  CHECK(boundOf("atan2", {{-1, 1}, {1, 2}}).high < 0.8);
  CHECK(boundOf("atan2", {{-1, 1}, {-2, 2}}).low < -3.14);
  CHECK(boundOf("atan2", {{1, 2}, {-inf, inf}}).low > -1e-9);
  CHECK(boundOf("atan2", {Interval::nan(), Interval::any()}).isNan());
  CHECK(boundOf("asin", {{-2, 2}}).isAny());
  CHECK(boundOf("asin", {{1.5, 2}}).isNan());
}
