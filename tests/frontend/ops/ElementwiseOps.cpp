// Elementwise operations compared with the C library's: quotients, lengths, logarithms, bits, and result dtypes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using Unary = Value (*)(const Value &);
using Binary = Value (*)(const Operand &, const Operand &);

namespace {

const double inf = HUGE_VAL, notANumber = NAN;

/// Returns true for the same number. NaN equals NaN, and zeros are signed.
bool same(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
void checkRow(const Tensor &y, const Row &expected) {
  const Row row = numbers(y);
  REQUIRE(row.size() == expected.size());
  for (size_t i = 0; i < row.size(); ++i) {
    INFO(i << ": " << row[i] << ", expected " << expected[i]);
    CHECK((same(row[i], expected[i]) ||
           (expected[i] != 0 && std::fabs(row[i] - expected[i]) <= 3e-7 * std::fabs(expected[i]))));
  }
}

Tensor floats(const Row &values) { return Tensor(values, {int64_t(values.size())}).astype(float32); }

std::vector<Tensor> withSlopes(Run run, Binary f, const Tensor &a, const Tensor &b) {
  return runOnce(run, {a, b}, [f](const std::vector<Value> &v) {
    Value y = f(v[0], v[1]);
    std::vector<Value> slopes = gradients(ops::sum(y), v);
    return std::vector<Value>{y, slopes[0], slopes[1]};
  });
}

Tensor one(Binary f, const Tensor &a, const Tensor &b) {
  return runOnce(Run::compiled, {a, b}, [f](const std::vector<Value> &v) { return std::vector<Value>{f(v[0], v[1])}; })
      .at(0);
}
Tensor one(Unary f, const Tensor &x) {
  return runOnce(Run::compiled, {x}, [f](const std::vector<Value> &v) { return std::vector<Value>{f(v[0])}; }).at(0);
}

} // namespace

TEST_CASE("functions of one number give what the C library gives, and integers are floats to them") {
  struct Case {
    Unary f;
    double (*exact)(double);
  };
  const Row values = {-3, -1, -0.5, -0.0, 0.0, 1e-6, 0.25, 0.75, 1, 1.5, 40, inf, -inf, notANumber};
  for (auto [f, exact] : {Case{ops::tan, std::tan}, Case{ops::arcsin, std::asin}, Case{ops::arccos, std::acos},
                          Case{ops::arctan, std::atan}, Case{ops::sinh, std::sinh}, Case{ops::cosh, std::cosh},
                          Case{ops::arcsinh, std::asinh}, Case{ops::arccosh, std::acosh},
                          Case{ops::arctanh, std::atanh}, Case{ops::log2, std::log2}, Case{ops::log10, std::log10},
                          Case{ops::exp2, std::exp2}, Case{ops::cbrt, std::cbrt}, Case{ops::trunc, std::trunc}}) {
    Row expected;
    for (double x : numbers(floats(values)))
      expected.push_back(exact(x));
    checkRow(one(f, floats(values)), expected);
    CHECK(one(f, Tensor(std::vector<int32_t>{1}, {1})).dtype() == (f == ops::trunc ? int32 : float32));
  }
  checkRow(one(ops::reciprocal, Tensor(std::vector<int32_t>{4, 0}, {2})), {0.25, inf});
}

TEST_CASE("quotients and rests of floats follow Python's signs") {
  const Row a = {7, -7, 7, -7, 6, -6, 5, -5, 1, 0.0, inf, 1, 5.5},
            b = {2, 2, -2, -2, -3, 3, inf, inf, 0, 0, 2, notANumber, -2};
  for (Run run : everyRun) {
    std::vector<Tensor> rest = withSlopes(run, ops::mod, floats(a), floats(b));
    checkRow(rest[0], {1, 1, -1, -1, -0.0, 0.0, 5, inf, notANumber, notANumber, notANumber, notANumber, -0.5});
    CHECK(numbers(rest[1])[1] == 1);
    const Row slopes = numbers(rest[2]); // the negated quotient
    CHECK(Row(slopes.begin(), slopes.begin() + 6) == Row{-3, 4, 4, -3, 2, 2});
    std::vector<Tensor> whole = withSlopes(run, ops::floor_divide, floats(a), floats(b));
    checkRow(whole[0], {3, -4, -4, 3, -2, -2, 0, -1, inf, notANumber, notANumber, notANumber, -3});
    for (double slope : numbers(whole[1]))
      CHECK(slope == 0);
  }
}

TEST_CASE("quotients and rests of integers follow Python's signs, and by 0 they are 0") {
  Tensor a(std::vector<int8_t>{7, -7, 7, -7, -128, 5, -6}, {7}), b(std::vector<int8_t>{2, 2, -2, -2, -1, 0, 3}, {7});
  CHECK(numbers(one(ops::floor_divide, a, b)) == Row{3, -4, -4, 3, -128, 0, -2});
  CHECK(numbers(one(ops::mod, a, b)) == Row{1, 1, -1, -1, 0, 0, 0});
  CHECK(one(ops::mod, a, b).dtype() == int8);
  Tensor x(std::vector<uint8_t>{250, 7}, {2}), y(std::vector<uint8_t>{7, 0}, {2});
  CHECK(numbers(one(ops::floor_divide, x, y)) == Row{35, 0});
  CHECK(numbers(one(ops::mod, x, y)) == Row{5, 0});
  Tensor yes = Tensor(std::vector<int32_t>{1}, {1}).astype(DType::bool_);
  CHECK(one(ops::mod, yes, yes).dtype() == int32);
  CHECK(one(ops::floor_divide, a, Tensor({2.0}, {1}).astype(float16)).dtype() == float16);
}

TEST_CASE("a length overflows only if the result does, and an infinite side beats NaN") {
  const Row a = {3, 3e38, 1e-30, 0.0, inf, -inf, notANumber, 2.5e38},
            b = {-4, 0.0, 1e-30, 0.0, notANumber, 1, 1, 2.5e38};
  for (Run run : everyRun) {
    std::vector<Tensor> y = withSlopes(run, ops::hypot, floats(a), floats(b));
    checkRow(y[0], {5, 3e38, std::sqrt(2.0) * 1e-30, 0.0, inf, inf, notANumber, inf});
    CHECK(numbers(y[1])[0] == Approx(0.6));
    CHECK(numbers(y[2])[0] == Approx(-0.8));
    CHECK(numbers(y[1])[2] == Approx(std::sqrt(0.5)));
    CHECK(std::isnan(numbers(y[1])[3]));
  }
}

TEST_CASE("the logarithm of a sum of powers keeps infinities and shares its slope by weight") {
  const Row a = {0, 1000, -inf, inf, -inf, 1, notANumber}, b = {0, 1001, -inf, inf, 2, 3, 1};
  for (Run run : everyRun) {
    std::vector<Tensor> y = withSlopes(run, ops::logaddexp, floats(a), floats(b));
    checkRow(y[0], {std::log(2.0), 1001 + std::log1p(std::exp(-1.0)), -inf, inf, 2, 3 + std::log1p(std::exp(-2.0)),
                    notANumber});
    CHECK(numbers(y[1])[0] == 0.5);
    CHECK(numbers(y[2])[0] == 0.5);
    CHECK(numbers(y[1])[5] == Approx(1 / (1 + std::exp(2.0))));
    CHECK(numbers(y[2])[5] == Approx(1 / (1 + std::exp(-2.0))));
    CHECK(numbers(y[1])[4] == 0);
    CHECK(numbers(y[2])[4] == 1);
  }
}

TEST_CASE("the arc tangent of two numbers has the quadrant's angle and slopes") {
  const double pi = std::acos(-1.0);
  for (Run run : everyRun) {
    std::vector<Tensor> y =
        withSlopes(run, ops::arctan2, floats({1, 1, -1, -1, 0.0, -0.0, 3}), floats({1, -1, -1, 1, -1, -1, 4}));
    checkRow(y[0], {pi / 4, 3 * pi / 4, -3 * pi / 4, -pi / 4, pi, -pi, std::atan2(3.0, 4.0)});
    CHECK(numbers(y[1])[6] == Approx(0.16));
    CHECK(numbers(y[2])[6] == Approx(-0.12));
  }
  CHECK(one(ops::arctan2, Tensor(std::vector<int32_t>{1}, {1}), Tensor(std::vector<int32_t>{1}, {1})).dtype() ==
        float32);
}

TEST_CASE("slopes of slopes are those of calculus") {
  struct Case {
    Unary f;
    double (*second)(double);
  };
  for (auto [f, second] : {
           Case{ops::tan, [](double x) { return 2 * std::tan(x) / (std::cos(x) * std::cos(x)); }},
           Case{ops::arcsin, [](double x) { return x / std::pow(1 - x * x, 1.5); }},
           Case{ops::arccos, [](double x) { return -x / std::pow(1 - x * x, 1.5); }},
           Case{ops::arctan, [](double x) { return -2 * x / std::pow(1 + x * x, 2); }},
           Case{ops::sinh, [](double x) { return std::sinh(x); }},
           Case{ops::cosh, [](double x) { return std::cosh(x); }},
           Case{ops::arcsinh, [](double x) { return -x / std::pow(1 + x * x, 1.5); }},
           Case{ops::arctanh, [](double x) { return 2 * x / std::pow(1 - x * x, 2); }},
           Case{ops::log2, [](double x) { return -1 / (x * x * std::log(2.0)); }},
           Case{ops::log10, [](double x) { return -1 / (x * x * std::log(10.0)); }},
           Case{ops::exp2, [](double x) { return std::exp2(x) * std::pow(std::log(2.0), 2); }},
           Case{ops::cbrt, [](double x) { return -2.0 / 9 * std::pow(x, -5.0 / 3); }},
       }) {
    const double x = 0.4375;
    std::vector<Tensor> y = runOnce(Run::compiled, {floats({x})}, [f](const std::vector<Value> &v) {
      Value slope = gradients(ops::sum(f(v[0])), v)[0];
      return std::vector<Value>{gradients(ops::sum(slope), v)[0]};
    });
    CHECK(numbers(y[0])[0] == Approx(second(x)).epsilon(2e-6));
  }
  std::vector<Tensor> y = runOnce(Run::compiled, {floats({2}), floats({0.5})}, [](const std::vector<Value> &v) {
    Value slope = gradients(ops::sum(ops::arctan2(v[0], v[1])), v)[0]; // x / (x^2 + y^2)
    return std::vector<Value>{gradients(ops::sum(slope), v)[0], gradients(ops::sum(ops::arccosh(v[0])), v)[0]};
  });
  CHECK(numbers(y[0])[0] == Approx(-2 * 2 * 0.5 / std::pow(4.25, 2)).epsilon(2e-6));
  CHECK(numbers(y[1])[0] == Approx(1 / std::sqrt(3.0)).epsilon(2e-6));
}

TEST_CASE("bits of integers and bools, and shifts that lose them all") {
  Tensor a(std::vector<int8_t>{12, -1, 100}, {3}), b(std::vector<int8_t>{10, 3, 9}, {3});
  CHECK(numbers(one(ops::bitwise_and, a, b)) == Row{8, 3, 0});
  CHECK(numbers(one(ops::bitwise_or, a, b)) == Row{14, -1, 109});
  CHECK(numbers(one(ops::bitwise_xor, a, b)) == Row{6, -4, 109});
  CHECK(numbers(one(ops::bitwise_not, a)) == Row{-13, 0, -101});
  CHECK(numbers(one(ops::bitwise_invert, a)) == Row{-13, 0, -101});
  CHECK(numbers(one(ops::left_shift, a, Tensor(std::vector<int8_t>{1, 7, 8}, {3}))) == Row{24, -128, 0});
  CHECK(numbers(one(ops::bitwise_left_shift, a, b)) == Row{0, -8, 0});
  CHECK(numbers(one(ops::right_shift, a, Tensor(std::vector<int8_t>{2, 7, 8}, {3}))) == Row{3, -1, 0});
  CHECK(numbers(one(ops::bitwise_right_shift, a, b)) == Row{0, -1, 0});
  Tensor p = Tensor(std::vector<int32_t>{0, 1, 0, 1}, {4}).astype(DType::bool_),
         q = Tensor(std::vector<int32_t>{0, 0, 1, 1}, {4}).astype(DType::bool_);
  CHECK(one(ops::bitwise_xor, p, q).dtype() == DType::bool_);
  CHECK(numbers(one(ops::bitwise_not, p)) == Row{1, 0, 1, 0});
  CHECK(one(ops::left_shift, p, q).dtype() == int32);
  CHECK(numbers(one(ops::logical_xor, p, q)) == Row{0, 1, 1, 0});
  CHECK(numbers(one(ops::logical_xor, floats({0, 2.5}), floats({1, -1}))) == Row{1, 0});
  CHECK_THAT(errorOf([&] { (void)one(ops::bitwise_and, a, floats({1, 2, 3})); }),
             Contains("TypeError: bitwise_and takes integers or bools, got float32"));
  CHECK_THAT(errorOf([&] { (void)one(ops::right_shift, floats({1}), floats({1})); }),
             Contains("TypeError: right_shift takes integers or bools, got float32"));
}

TEST_CASE("NaN and infinities are found, and become numbers of the dtype") {
  Tensor x = floats({1, inf, -inf, notANumber, -0.0});
  CHECK(numbers(one(ops::isnan, x)) == Row{0, 0, 0, 1, 0});
  CHECK(numbers(one(ops::isinf, x)) == Row{0, 1, 1, 0, 0});
  CHECK(numbers(one(ops::isinf, Tensor(std::vector<int32_t>{7}, {1}))) == Row{0});
  const double largest = std::numeric_limits<float>::max();
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x}, [](const std::vector<Value> &v) {
      Value plain = ops::nan_to_num(v[0]);
      return std::vector<Value>{plain, ops::nan_to_num(v[0], 7, 8.0, -9.0), gradients(ops::sum(plain), v)[0]};
    });
    checkRow(y[0], {1, largest, -largest, 0.0, -0.0});
    checkRow(y[1], {1, 8, -9, 7, -0.0});
    checkRow(y[2], {1, 0.0, 0.0, 0.0, 1});
  }
  Tensor half = runOnce(Run::compiled, {x.astype(float16)}, [](const std::vector<Value> &v) {
                  return std::vector<Value>{ops::nan_to_num(v[0])};
                }).at(0);
  CHECK(numbers(half)[1] == 65504);
  CHECK(half.dtype() == float16);
  CHECK(one([](const Value &v) { return ops::nan_to_num(v); }, Tensor(std::vector<int8_t>{3}, {1})).dtype() == int8);
}
