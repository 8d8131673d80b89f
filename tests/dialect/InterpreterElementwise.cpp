// Elementwise ops in the interpreter: closed forms, edge cases, integers, casts, intervals.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "runtime/base/Half.h"
#include <functional>
#include <random>

using namespace halftone;
using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

const double inf = INFINITY, notANumber = NAN;

struct Float {
  const char *name;
  DType dtype;
  double tiniest; // smallest subnormal
};
const Float floats[] = {{"f16", DType::float16, 0x1p-24},
                        {"bf16", DType::bfloat16, 0x1p-133},
                        {"f32", DType::float32, 0x1p-149},
                        {"f64", DType::float64, 0x1p-1074}};

double rounded(const Float &type, double value) {
  return type.dtype == DType::float64 ? value : roundTo(type.dtype, roundTo(DType::float32, value));
}

void checkUnary(const char *op, std::vector<double> inputs, const std::function<double(double)> &expected) {
  for (const Float &type : floats) {
    std::vector<double> xs;
    for (double x : inputs)
      xs.push_back(roundTo(type.dtype, x));
    TensorData y = applyOp(op, {reals(std::to_string(xs.size()) + "x" + type.name, xs)});
    for (size_t i = 0; i < xs.size(); ++i) {
      INFO(op << " of " << xs[i] << " in " << type.name << " gives " << y.low[i]);
      double value = rounded(type, expected(xs[i]));
      CHECK((sameBits(y.low[i], value) || (type.dtype == DType::float64 && y.low[i] == Approx(value).epsilon(4e-16))));
      CHECK(sameBits(y.low[i], y.high[i]));
    }
  }
}

using Row = std::vector<double>;

void checkBinary(const char *op, const Row &a, const Row &b, const Row &expected) {
  for (const Float &type : floats) {
    std::string tensor = std::to_string(a.size()) + "x" + type.name;
    TensorData y = applyOp(op, {reals(tensor, a), reals(tensor, b)});
    for (size_t i = 0; i < a.size(); ++i) {
      INFO(op << " of " << a[i] << ", " << b[i] << " in " << type.name << " gives " << y.low[i]);
      CHECK(sameBits(y.low[i], expected[i]));
    }
  }
}

void checkInts(const char *op, const std::string &type, const std::vector<int64_t> &a, const std::vector<int64_t> &b,
               const std::vector<int64_t> &expected) {
  INFO(op << " in " << type);
  std::string tensor = std::to_string(a.size()) + "x" + type;
  CHECK(applyOp(op, {wholes(tensor, a), wholes(tensor, b)}).integers == expected);
}
void checkInts(const char *op, const std::string &type, const std::vector<int64_t> &a,
               const std::vector<int64_t> &expected) {
  INFO(op << " in " << type);
  CHECK(applyOp(op, {wholes(std::to_string(a.size()) + "x" + type, a)}).integers == expected);
}

TensorData castTo(const std::string &to, const TensorData &x, const std::string &attributes = "",
                  bool intervals = false) {
  std::string from;
  llvm::raw_string_ostream(from) << x.type;
  return evaluate("%y = halftone.cast %0 " + attributes + " : " + from + " to tensor<" + to + ">", to, {x}, intervals);
}

} // namespace

TEST_CASE("unary float ops have their closed forms in every dtype") {
  Row any = {-2.5, -1, -0.625, 0.0, 0.125, 0.5, 1, 1.75, 3};
  Row positive = {0x1p-10, 0.125, 0.5, 1, 1.75, 3, 60};
  checkUnary("abs", any, [](double x) { return x < 0 ? -x : x; });
  checkUnary("neg", any, [](double x) { return -x; });
  checkUnary("sign", any, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
  checkUnary("exp", any, [](double x) { return static_cast<double>(expl(x)); });
  checkUnary("expm1", any, [](double x) { return static_cast<double>(expm1l(x)); });
  checkUnary("log", positive, [](double x) { return static_cast<double>(logl(x)); });
  checkUnary("log1p", positive, [](double x) { return static_cast<double>(log1pl(x)); });
  checkUnary("sqrt", positive, [](double x) { return static_cast<double>(sqrtl(x)); });
  checkUnary("floor", any, [](double x) { return std::floor(x); });
  checkUnary("ceil", any, [](double x) { return std::ceil(x); });
  checkUnary("round_even", {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.25}, [](double x) { return std::rint(x); });
  CHECK(applyOp("round_even", {reals("5xf16", {-2.5, -1.5, 0.5, 1.5, 2.5})}).low == Row{-2, -2, 0, 2, 2});
}

TEST_CASE("transcendentals agree with tabulated values in f32 and f64") {
  struct Case {
    const char *op;
    double x, y;
  };
  for (auto [op, x, y] :
       {Case{"tanh", 0.5, 0.46211715726000975850},        Case{"erf", 0.5, 0.52049987781304653768},
        Case{"logistic", 0.5, 0.62245933120185456464},    Case{"sin", 0.5, 0.47942553860420300027},
        Case{"cos", 0.5, 0.87758256189037271612},         Case{"exp", 0.5, 1.6487212707001281468},
        Case{"log", 0.5, -0.69314718055994530942},        Case{"log2", 0.75, -0.41503749927884378},
        Case{"log10", 0.5, -0.30102999566398119521},      Case{"exp2", 0.5, 1.4142135623730950488},
        Case{"cbrt", 2.0, 1.2599210498948731648},         Case{"sinh", 0.5, 0.52109530549374736162},
        Case{"cosh", 0.5, 1.1276259652063807852},         Case{"asinh", 0.5, 0.48121182505960344750},
        Case{"acosh", 2.0, 1.3169578969248167086},        Case{"atanh", 0.5, 0.54930614433405484570},
        Case{"tan", 0.5, 0.54630248984379051326},         Case{"asin", 0.5, 0.52359877559829887308},
        Case{"acos", 0.5, 1.0471975511965977462},         Case{"atan", 0.5, 0.46364760900080611621},
        Case{"rsqrt", 2.0, 0.70710678118654752440},       Case{"expm1", 0x1p-10, 0.00097703949241653524285},
        Case{"log1p", 0x1p-10, 0.00097608597305545889596}}) {
    INFO(op);
    CHECK(applyOp(op, {reals("f64", {x})}).low[0] == Approx(y).epsilon(3e-16));
    CHECK(applyOp(op, {reals("f32", {x})}).low[0] == roundTo(DType::float32, y));
    CHECK(applyOp(op, {reals("f16", {x})}).low[0] == roundTo(DType::float16, y));
  }
}

TEST_CASE("unary float ops have their values at infinities, NaN and signed zeros") {
  struct Case {
    const char *op;
    double minusInf, plusInf, minusZero, plusZero;
  };
  for (const Case &c : {Case{"abs", inf, inf, 0.0, 0.0},
                        Case{"neg", inf, -inf, 0.0, -0.0},
                        Case{"sign", -1, 1, -0.0, 0.0},
                        Case{"exp", 0.0, inf, 1, 1},
                        Case{"expm1", -1, inf, -0.0, 0.0},
                        Case{"log", notANumber, inf, -inf, -inf},
                        Case{"log1p", notANumber, inf, -0.0, 0.0},
                        Case{"sqrt", notANumber, inf, -0.0, 0.0},
                        Case{"rsqrt", notANumber, 0.0, -inf, inf},
                        Case{"tanh", -1, 1, -0.0, 0.0},
                        Case{"logistic", 0.0, 1, 0.5, 0.5},
                        Case{"erf", -1, 1, -0.0, 0.0},
                        Case{"sin", notANumber, notANumber, -0.0, 0.0},
                        Case{"cos", notANumber, notANumber, 1, 1},
                        Case{"floor", -inf, inf, -0.0, 0.0},
                        Case{"ceil", -inf, inf, -0.0, 0.0},
                        Case{"relu", 0.0, inf, -0.0, 0.0},
                        Case{"round_even", -inf, inf, -0.0, 0.0},
                        Case{"exp2", 0.0, inf, 1, 1},
                        Case{"log2", notANumber, inf, -inf, -inf},
                        Case{"log10", notANumber, inf, -inf, -inf},
                        Case{"cbrt", -inf, inf, -0.0, 0.0},
                        Case{"sinh", -inf, inf, -0.0, 0.0},
                        Case{"cosh", inf, inf, 1, 1},
                        Case{"asinh", -inf, inf, -0.0, 0.0},
                        Case{"acosh", notANumber, inf, notANumber, notANumber},
                        Case{"atanh", notANumber, notANumber, -0.0, 0.0},
                        Case{"tan", notANumber, notANumber, -0.0, 0.0},
                        Case{"asin", notANumber, notANumber, -0.0, 0.0}})
    for (const Float &type : floats) {
      INFO(c.op << " in " << type.name);
      TensorData y = applyOp(c.op, {reals(std::string("5x") + type.name, {-inf, inf, -0.0, 0.0, notANumber})});
      CHECK(sameBits(y.low[0], c.minusInf));
      CHECK(sameBits(y.low[1], c.plusInf));
      CHECK(sameBits(y.low[2], c.minusZero));
      CHECK(sameBits(y.low[3], c.plusZero));
      CHECK(std::isnan(y.low[4]));
    }
}

TEST_CASE("subnormals are kept, and overflow gives infinity") {
  for (const Float &type : floats) {
    INFO(type.name);
    std::string two = std::string("2x") + type.name;
    double tiny = type.tiniest, big = largestFinite(type.dtype);
    CHECK(applyOp("neg", {reals(two, {tiny, -tiny})}).low == Row{-tiny, tiny});
    CHECK(applyOp("add", {reals(two, {tiny, big}), reals(two, {tiny, big})}).low == Row{2 * tiny, inf});
    CHECK(applyOp("mul", {reals(two, {tiny, tiny}), reals(two, {0.25, 0.75})}).low == Row{0, tiny});
  }
}

TEST_CASE("binary float ops have their closed forms in every dtype") {
  Row a = {1.5, -2, 7, 0.0, inf, notANumber, -0.0, inf}, b = {0.5, 4, -2, -0.0, inf, 1, 0.0, 0.0};
  checkBinary("add", a, b, {2, 2, 5, 0.0, inf, notANumber, 0.0, inf});
  checkBinary("sub", a, b, {1, -6, 9, 0.0, notANumber, notANumber, -0.0, inf});
  checkBinary("mul", a, b, {0.75, -8, -14, -0.0, inf, notANumber, -0.0, notANumber});
  checkBinary("div", a, b, {3, -0.5, -3.5, notANumber, notANumber, notANumber, notANumber, inf});
  checkBinary("rem", a, b, {0.0, -2, 1, notANumber, notANumber, notANumber, notANumber, notANumber});
  checkBinary("pow", {2, 9, 0.0, notANumber, -2, inf, 4}, {3, 0.5, 0.0, 0.0, 3, -1, -0.5}, {8, 3, 1, 1, -8, 0.0, 0.5});
  checkBinary("maximum", {1, -3, 0.0, -0.0, notANumber, 1, inf}, {2, -4, -0.0, 0.0, 1, notANumber, 1},
              {2, -3, 0.0, -0.0, notANumber, notANumber, inf});
  checkBinary("minimum", {1, -3, 0.0, -0.0, notANumber, 1, -inf}, {2, -4, -0.0, 0.0, 1, notANumber, 1},
              {1, -4, 0.0, -0.0, notANumber, notANumber, -inf});
}

TEST_CASE("atan2 knows quadrants, signs of zeros and infinities") {
  const double pi = 3.14159265358979323846;
  TensorData y = applyOp("atan2", {reals("10xf64", {1, -1, 0.0, -0.0, 0.0, -0.0, inf, -inf, 1, notANumber}),
                                   reals("10xf64", {-1, -1, -1, -1, 0.0, -0.0, inf, -inf, -inf, 1})});
  Row expected = {3 * pi / 4, -3 * pi / 4, pi, -pi, 0.0, -pi, pi / 4, -3 * pi / 4, pi, notANumber};
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK((sameBits(y.low[i], expected[i]) || y.low[i] == Approx(expected[i]).epsilon(3e-16)));
  }
}

TEST_CASE("narrow arithmetic rounds to nearest even after each op") {
  CHECK(applyOp("add", {reals("2xf16", {2048, 2048}), reals("2xf16", {1, 3})}).low == Row{2048, 2052});
  CHECK(applyOp("add", {reals("2xbf16", {256, 256}), reals("2xbf16", {1, 3})}).low == Row{256, 260});
  CHECK(applyOp("div", {reals("f16", {1}), reals("f16", {3})}).low[0] == 0.333251953125);
}

TEST_CASE("integers wrap, divide by zero to zero and shift out") {
  checkInts("add", "i8", {127, -128, 5}, {1, -1, 6}, {-128, 127, 11});
  checkInts("add", "ui8", {255, 200}, {1, 100}, {0, 44});
  checkInts("sub", "ui32", {0}, {1}, {4294967295});
  checkInts("mul", "i64", {INT64_MAX, INT64_MIN}, {2, -1}, {-2, INT64_MIN});
  checkInts("mul", "ui64", {-1, 3}, {-1, 5}, {1, 15});
  checkInts("div", "i32", {7, -7, 5, INT32_MIN}, {-2, 2, 0, -1}, {-3, -3, 0, INT32_MIN});
  checkInts("div", "ui8", {255, 7}, {2, 0}, {127, 0});
  checkInts("div", "ui64", {-1}, {2}, {INT64_MAX});
  checkInts("rem", "i32", {7, -7, 5, INT32_MIN}, {-2, 2, 0, -1}, {1, -1, 0, 0});
  checkInts("rem", "ui16", {65535, 9}, {10, 0}, {5, 0});
  checkInts("maximum", "i16", {-5, 3}, {2, 9}, {2, 9});
  checkInts("maximum", "ui64", {-1, 3}, {2, 9}, {-1, 9});
  checkInts("minimum", "ui8", {200, 3}, {100, 9}, {100, 3});
  checkInts("and", "i1", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1});
  checkInts("or", "i1", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1});
  checkInts("xor", "i1", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0});
  checkInts("xor", "i32", {-1}, {5}, {-6});
  checkInts("shl", "ui32", {1, 1, 1, 3}, {31, 32, 200, 31}, {2147483648, 0, 0, 2147483648});
  checkInts("shl", "i8", {1, 1, -1}, {7, 8, -1}, {-128, 0, 0});
  checkInts("shr", "ui32", {4294967295, 8, 8}, {28, 3, 32}, {15, 1, 0});
  checkInts("shr", "ui64", {-1}, {63}, {1});
  checkInts("shr", "i8", {-128, -128, 100, -1}, {7, 100, 3, -5}, {-1, -1, 12, -1});
  checkInts("pow", "i8", {2, -3, 2, -1, 1, 7, 0, 0}, {6, 3, 7, -5, -9, -1, -1, 0}, {64, -27, -128, -1, 1, 0, 0, 1});
  checkInts("pow", "ui64", {-1, 3, 2}, {2, 39, 64}, {1, 4052555153018976267, 0});
  checkInts("relu", "i16", {-32768, 3, 0}, {0, 3, 0});
  checkInts("relu", "ui8", {255}, {255});
  checkInts("abs", "i8", {-128, -5, 5}, {-128, 5, 5});
  checkInts("abs", "ui8", {255}, {255});
  checkInts("neg", "i16", {-32768, 3}, {-32768, -3});
  checkInts("neg", "ui8", {1}, {255});
  checkInts("sign", "i32", {-9, 0, 9}, {-1, 0, 1});
  checkInts("sign", "ui64", {-1, 0}, {1, 0});
  checkInts("not", "i1", {0, 1}, {1, 0});
  checkInts("not", "ui8", {1}, {254});
  checkInts("not", "i32", {0}, {-1});
}

TEST_CASE("comparisons with NaN are false, except ne") {
  TensorData a = reals("6xf16", {1, 2, 2, notANumber, 1, -0.0}), b = reals("6xf16", {2, 2, 1, 1, notANumber, 0.0});
  using V = std::vector<int64_t>;
  CHECK(applyOp("compare eq", {a, b}).integers == V{0, 1, 0, 0, 0, 1});
  CHECK(applyOp("compare ne", {a, b}).integers == V{1, 0, 1, 1, 1, 0});
  CHECK(applyOp("compare lt", {a, b}).integers == V{1, 0, 0, 0, 0, 0});
  CHECK(applyOp("compare le", {a, b}).integers == V{1, 1, 0, 0, 0, 1});
  CHECK(applyOp("compare gt", {a, b}).integers == V{0, 0, 1, 0, 0, 0});
  CHECK(applyOp("compare ge", {a, b}).integers == V{0, 1, 1, 0, 0, 1});
  CHECK(applyOp("compare lt", {wholes("2xi8", {-1, 1}), wholes("2xi8", {1, -1})}).integers == V{1, 0});
  CHECK(applyOp("compare lt", {wholes("2xui64", {-1, 1}), wholes("2xui64", {1, -1})}).integers == V{0, 1});
  CHECK(applyOp("compare gt", {wholes("2xi1", {1, 0}), wholes("2xi1", {0, 1})}).integers == V{1, 0});
  CHECK(applyOp("is_finite", {reals("5xbf16", {0, inf, -inf, notANumber, 3})}).integers == V{1, 0, 0, 0, 1});
}

TEST_CASE("select chooses element by element") {
  TensorData p = wholes("3xi1", {1, 0, 1});
  CHECK(applyOp("select", {p, reals("3xf32", {1, 2, 3}), reals("3xf32", {4, 5, 6})}).low == Row{1, 5, 3});
  CHECK(applyOp("select", {p, wholes("3xi64", {1, 2, 3}), wholes("3xi64", {4, 5, 6})}).integers ==
        std::vector<int64_t>{1, 5, 3});
}

TEST_CASE("casts from float truncate, saturate and take NaN to zero") {
  TensorData x = reals(
      "7xf32", {roundTo(DType::float32, -1.9), roundTo(DType::float32, 1.9), 0x1p68, -0x1p68, notANumber, inf, 200.5});
  using V = std::vector<int64_t>;
  CHECK(castTo("7xi8", x).integers == V{-1, 1, 127, -128, 0, 127, 127});
  CHECK(castTo("7xui8", x).integers == V{0, 1, 255, 0, 0, 255, 200});
  CHECK(castTo("7xi32", x).integers == V{-1, 1, INT32_MAX, INT32_MIN, 0, INT32_MAX, 200});
  CHECK(castTo("7xi64", x).integers == V{-1, 1, INT64_MAX, INT64_MIN, 0, INT64_MAX, 200});
  CHECK(castTo("7xui64", x).integers == V{0, 1, -1, 0, 0, -1, 200});
  CHECK(castTo("4xi1", reals("4xf64", {0.0, -0.0, 0.25, notANumber})).integers == V{0, 0, 1, 1});
}

TEST_CASE("casts between integers wrap, and casts to bool test for non-zero") {
  using V = std::vector<int64_t>;
  CHECK(castTo("3xi8", wholes("3xi32", {300, -1, 128})).integers == V{44, -1, -128});
  CHECK(castTo("2xui8", wholes("2xi32", {-1, 256})).integers == V{255, 0});
  CHECK(castTo("2xi64", wholes("2xui32", {4294967295, 1})).integers == V{4294967295, 1});
  CHECK(castTo("2xui64", wholes("2xi8", {-1, 1})).integers == V{-1, 1});
  CHECK(castTo("3xi1", wholes("3xi32", {256, 0, -1})).integers == V{1, 0, 1});
  CHECK(castTo("2xi32", wholes("2xi1", {1, 0})).integers == V{1, 0});
  CHECK(castTo("2xf16", wholes("2xi1", {1, 0})).low == Row{1, 0});
}

TEST_CASE("casts to float round once") {
  CHECK(castTo("2xf32", wholes("2xi32", {16777217, 16777219})).low == Row{16777216, 16777220});
  CHECK(castTo("f32", wholes("ui64", {-1})).low[0] == 0x1p64);
  CHECK(castTo("f16", wholes("i32", {2049})).low[0] == 2048);
  // In f32 this value would be a midpoint and round down to even.
  int64_t aboveTie = (int64_t(1) << 40) + (int64_t(1) << 32) + 1;
  CHECK(castTo("bf16", wholes("i64", {aboveTie})).low[0] == 0x1p40 + 0x1p33);
  CHECK(castTo("f16", reals("f64", {1 + 0x1p-11 + 0x1p-40})).low[0] == 1 + 0x1p-10);
  CHECK(castTo("2xf16", reals("2xf32", {70000, -70000})).low == Row{inf, -inf});
  CHECK(castTo("2xf16", reals("2xf32", {70000, -inf}), "{saturate = true}").low == Row{65504, -65504});
  CHECK(castTo("2xf8E4M3FN", reals("2xf32", {1000, -1000}), "{saturate = true}").low == Row{448, -448});
  CHECK(std::isnan(castTo("f8E4M3FN", reals("f32", {1000})).low[0]));
  CHECK(castTo("2xf8E5M2", reals("2xf32", {1.125, 1e6})).low == Row{1, inf});
  CHECK(castTo("f32", reals("f8E5M2", {1.25})).low[0] == 1.25);
}

// The result of an op, widened to f64 before it is stored.
static TensorData applyAndWiden(const std::string &op, const std::string &tensor,
                                const std::vector<TensorData> &operands, bool intervals) {
  std::string type = "tensor<" + tensor + ">";
  return evaluate("%r = halftone." + op + (operands.size() == 1 ? " %0 : " : " %0, %1 : ") + type +
                      "\n%y = halftone.cast %r : " + type + " to tensor<64xf64>",
                  "64xf64", operands, intervals);
}

// The bounds must contain the exact result and, for narrow floats, the result kept in f32.
static void checkContainment(const std::string &op, size_t operands, const Float &type, std::mt19937 &random) {
  INFO(op << " in " << type.name);
  std::uniform_real_distribution<double> uniform(0.1, 4);
  std::string tensor = std::string("64x") + type.name;
  std::vector<TensorData> exact(operands), wide(operands);
  for (size_t o = 0; o < operands; ++o) {
    Row values;
    for (int i = 0; i < 64; ++i)
      values.push_back(roundTo(type.dtype, uniform(random)));
    exact[o] = reals(tensor, values);
    wide[o] = reals(type.dtype == DType::float64 ? "64xf64" : "64xf32", values);
  }
  TensorData bounds = applyAndWiden(op, tensor, exact, true), result = applyAndWiden(op, tensor, exact, false);
  TensorData kept = applyAndWiden(op, type.dtype == DType::float64 ? "64xf64" : "64xf32", wide, false);
  for (int64_t i = 0; i < 64; ++i) {
    INFO(bounds.low[i] << " to " << bounds.high[i] << ", rounded " << result.low[i] << ", kept " << kept.low[i]);
    CHECK(bounds.contains(result, i));
    CHECK(bounds.contains(kept, i));
    CHECK(bounds.high[i] - bounds.low[i] <= std::fabs(kept.low[i]) * (type.dtype == DType::bfloat16 ? 0.01 : 0.002));
  }
}

TEST_CASE("bounds hold the result whether a narrow float was rounded or not, and are tight") {
  std::mt19937 random(5);
  for (const Float &type : floats) {
    for (const char *op : {"abs", "neg", "sign", "relu", "exp", "expm1", "log1p", "sqrt", "rsqrt", "tanh", "logistic",
                           "erf", "floor", "ceil", "round_even"})
      checkContainment(op, 1, type, random);
    for (const char *op : {"add", "mul", "div", "pow", "maximum", "minimum", "rem"})
      checkContainment(op, 2, type, random);
  }
}

TEST_CASE("bounds of a product and sum hold the fused result") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Row a, b, c;
  for (int i = 0; i < 256; ++i) {
    a.push_back(uniform(random));
    b.push_back(uniform(random));
    c.push_back(uniform(random));
  }
  TensorData bounds = evaluate("%m = halftone.mul %0, %1 : tensor<256xf32>\n%y = halftone.sub %m, %2 : tensor<256xf32>",
                               "256xf32", {reals("256xf32", a), reals("256xf32", b), reals("256xf32", c)}, true);
  for (int i = 0; i < 256; ++i) {
    double fused = std::fma(static_cast<float>(a[i]), static_cast<float>(b[i]), static_cast<float>(-c[i]));
    double apart = static_cast<float>(static_cast<float>(a[i] * b[i])) - static_cast<float>(c[i]);
    CHECK((bounds.low[i] <= fused && fused <= bounds.high[i]));
    CHECK((bounds.low[i] <= roundTo(DType::float32, apart) && roundTo(DType::float32, apart) <= bounds.high[i]));
  }
}

TEST_CASE("an undecided comparison joins the values that it selects") {
  TensorData x = interval("2xf32", {-1, 1}, {1, 2});
  TensorData y = evaluate("%z = halftone.constant dense<0.0> : tensor<2xf32>\n"
                          "%p = halftone.compare gt %0, %z : tensor<2xf32>\n"
                          "%c = halftone.constant dense<[5.0, 7.0]> : tensor<2xf32>\n"
                          "%y = halftone.select %p, %c, %0 : tensor<2xf32>",
                          "2xf32", {x}, true);
  CHECK(y.low == Row{-1, 7});
  CHECK(y.high == Row{5, 7});
  TensorData whole = castTo("2xi32", x, "", true);
  CHECK(whole.integers == std::vector<int64_t>{-1, 1});
  CHECK(whole.upper == std::vector<int64_t>{1, 2});
}
