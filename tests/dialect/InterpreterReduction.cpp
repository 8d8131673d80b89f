// Reductions and contractions in the interpreter: values, order, neutral elements, intervals.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "runtime/base/Half.h"
#include <random>

using namespace halftone;
using namespace halftone::dialect;
using namespace halftone::dialect::testing;

using Row = std::vector<double>;
using Ints = std::vector<int64_t>;
static const double inf = INFINITY, notANumber = NAN;

static TensorData reduced(const std::string &kind, const std::string &axes, const std::string &result,
                          const TensorData &x, bool intervals = false) {
  std::string type;
  llvm::raw_string_ostream(type) << x.type;
  return evaluate("%y = halftone.reduce " + kind + " %0 {axes = array<i64" + axes + ">} : " + type + " -> tensor<" +
                      result + ">",
                  result, {x}, intervals);
}

TEST_CASE("reduce combines along axes in every dtype") {
  for (std::string type : {"f16", "bf16", "f32", "f64"}) {
    TensorData x = reals("2x3x" + type, {1, 2, 3, 4, 5, -6});
    CHECK(reduced("sum", ": 0", "3x" + type, x).low == Row{5, 7, -3});
    CHECK(reduced("sum", ": 1", "2x" + type, x).low == Row{6, 3});
    CHECK(reduced("sum", ": 0, 1", type, x).low == Row{9});
    CHECK(reduced("sum", "", "2x3x" + type, x).low == x.low);
    CHECK(reduced("max", ": 1", "2x" + type, x).low == Row{3, 5});
    CHECK(reduced("min", ": 0", "3x" + type, x).low == Row{1, 2, -6});
    CHECK(reduced("prod", ": 1", "2x" + type, x).low == Row{6, -120});
  }
  CHECK(reduced("sum", ": 0", "i8", wholes("2xi8", {100, 100})).integers == Ints{-56});
  CHECK(reduced("max", ": 0", "ui64", wholes("2xui64", {-1, 7})).integers == Ints{-1});
  CHECK(reduced("prod", ": 0", "i64", wholes("3xi64", {INT64_MAX, 2, 3})).integers == Ints{-6});
  CHECK(reduced("and", ": 1", "2xi1", wholes("2x2xi1", {1, 1, 1, 0})).integers == Ints{1, 0});
  CHECK(reduced("or", ": 1", "2xi1", wholes("2x2xi1", {0, 0, 1, 0})).integers == Ints{0, 1});
  CHECK(reduced("and", ": 0", "ui8", wholes("2xui8", {12, 10})).integers == Ints{8});
}

TEST_CASE("a reduction over an empty axis gives the neutral element") {
  CHECK(reduced("sum", ": 0", "2xf32", reals("0x2xf32", {})).low == Row{0, 0});
  CHECK(reduced("prod", ": 0", "f32", reals("0xf32", {})).low == Row{1});
  CHECK(reduced("max", ": 0", "f16", reals("0xf16", {})).low == Row{-inf});
  CHECK(reduced("min", ": 0", "i8", wholes("0xi8", {})).integers == Ints{127});
  CHECK(reduced("max", ": 0", "ui8", wholes("0xui8", {})).integers == Ints{0});
  CHECK(reduced("and", ": 0", "i1", wholes("0xi1", {})).integers == Ints{1});
  CHECK(reduced("or", ": 0", "i1", wholes("0xi1", {})).integers == Ints{0});
}

TEST_CASE("narrow sums accumulate in f32, max and min keep NaN") {
  TensorData ones = reals("4096xf16", Row(4096, 1.0));
  CHECK(reduced("sum", ": 0", "f16", ones).low == Row{4096});
  CHECK(reduced("sum", ": 0", "f32", reals("70xf16", Row(70, 1000.0))).low == Row{70000});
  CHECK(reduced("sum", ": 0", "f16", reals("70xf16", Row(70, 1000.0))).low == Row{inf});
  CHECK(std::isnan(reduced("max", ": 0", "f32", reals("3xf32", {1, notANumber, 2})).low[0]));
  CHECK(std::isnan(reduced("min", ": 0", "bf16", reals("3xbf16", {notANumber, 1, 2})).low[0]));
}

TEST_CASE("partial_reduce and a reduce after it give the reduce of the whole") {
  Row values;
  for (int i = 0; i < 14; ++i)
    values.push_back(i + 1);
  TensorData x = reals("7x2xf32", values);
  TensorData partial = evaluate("%y = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 3>} : "
                                "tensor<7x2xf32> -> tensor<3x2xf32>",
                                "3x2xf32", {x});
  CHECK(partial.low == Row{9, 12, 27, 30, 13, 14});
  CHECK(reduced("sum", ": 0", "2xf32", partial).low == reduced("sum", ": 0", "2xf32", x).low);
  TensorData both = evaluate("%y = halftone.partial_reduce max %0 {axes = array<i64: 0, 1>, tile = array<i64: 4, 1>} : "
                             "tensor<7x2xf32> -> tensor<2x2xf32>",
                             "2x2xf32", {x});
  CHECK(both.low == Row{7, 8, 13, 14});
}

static Ints argReduce(const std::string &kind, const TensorData &x, int64_t axis, const std::string &result) {
  std::string type;
  llvm::raw_string_ostream(type) << x.type;
  return evaluate("%y = halftone.arg_reduce " + kind + " %0 {axis = " + std::to_string(axis) + " : i64} : " + type +
                      " -> tensor<" + result + ">",
                  result, {x})
      .integers;
}

TEST_CASE("arg_reduce gives the first of equals, and NaN before all") {
  TensorData x = reals("3x3xf32", {1, 5, 5, -1, notANumber, notANumber, 2, 2, 1});
  CHECK(argReduce("max", x, 1, "3xi32") == Ints{1, 1, 0});
  CHECK(argReduce("min", x, 1, "3xi32") == Ints{0, 1, 2});
  CHECK(argReduce("max", x, 0, "3xi32") == Ints{2, 1, 1});
  CHECK(argReduce("max", reals("2xf16", {-inf, -inf}), 0, "i32") == Ints{0});
  CHECK(argReduce("max", wholes("3xui64", {1, -1, -1}), 0, "i32") == Ints{1});
  CHECK(argReduce("min", wholes("3xi8", {1, -1, -1}), 0, "i32") == Ints{1});
}

TEST_CASE("reduce_all asks about all elements of all operands") {
  TensorData a = reals("2xf32", {3, -4}), b = reals("2x1xf16", {1, 2});
  auto ask = [&](const std::string &kind, const TensorData &x, const TensorData &y, const std::string &result) {
    std::string types, second;
    llvm::raw_string_ostream(types) << x.type << ", " << y.type;
    return evaluate("%y = halftone.reduce_all " + kind + " (%0, %1) : " + types, result, {x, y});
  };
  CHECK(ask("sum_of_squares", a, b, "f32").low == Row{30});
  CHECK(ask("max_abs", a, b, "f32").low == Row{4});
  CHECK(ask("all_finite", a, b, "i1").integers == Ints{1});
  CHECK(ask("all_finite", a, reals("1xf16", {inf}), "i1").integers == Ints{0});
  CHECK(std::isnan(ask("max_abs", a, reals("1xf16", {notANumber}), "f32").low[0]));
  CHECK(ask("sum_of_squares", reals("1xf64", {1e200}), reals("1xf32", {1}), "f64").low == Row{inf});
  CHECK(evaluate("%y = halftone.reduce_all all_finite ()", "i1", {}).integers == Ints{1});
  CHECK(evaluate("%y = halftone.reduce_all max_abs ()", "f32", {}).low == Row{0});
}

TEST_CASE("contract sums products over named axes") {
  std::string axes = "{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}";
  for (std::string type : {"f16", "bf16", "f32", "f64"}) {
    TensorData a = reals("2x3x" + type, {1, 2, 3, 4, 5, 6}), b = reals("3x2x" + type, {1, 2, 3, 4, 5, 6});
    CHECK(evaluate("%y = halftone.contract %0, %1 " + axes + " : (tensor<2x3x" + type + ">, tensor<3x2x" + type +
                       ">) -> tensor<2x2x" + type + ">",
                   "2x2x" + type, {a, b})
              .low == Row{22, 28, 49, 64});
  }
  CHECK(evaluate("%y = halftone.contract %0, %1 " + axes + " : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>",
                 "1x1xi32", {wholes("1x2xi8", {-128, 127}), wholes("2x1xi8", {-128, 2})})
            .integers == Ints{16638});
  CHECK(evaluate("%y = halftone.contract %0, %1 " + axes +
                     " : (tensor<1x2xi32>, tensor<2x1xi32>) -> tensor<1x1xi32>", // wraps
                 "1x1xi32", {wholes("1x2xi32", {INT32_MAX, 5}), wholes("2x1xi32", {2, -3})})
            .integers == Ints{-17});
  CHECK(evaluate("%y = halftone.contract %0, %1 " + axes + " : (tensor<1x3xi64>, tensor<3x1xi64>) -> tensor<1x1xi64>",
                 "1x1xi64", {wholes("1x3xi64", {INT64_MIN, INT64_MIN, 7}), wholes("3x1xi64", {INT64_MIN, 3, 6})})
            .integers == Ints{INT64_MIN + 42});
  CHECK(evaluate("%y = halftone.contract %0, %1 " + axes +
                     " : (tensor<1x2xf8E4M3FN>, tensor<2x1xf8E5M2>) -> tensor<1x1xf32>",
                 "1x1xf32", {reals("1x2xf8E4M3FN", {1.125, 448}), reals("2x1xf8E5M2", {2, 1024})})
            .low == Row{448.0 * 1024 + 2.25});
  CHECK(evaluate("%y = halftone.contract %0, %1 " + axes + " : (tensor<2x0xf32>, tensor<0x1xf32>) -> tensor<2x1xf32>",
                 "2x1xf32", {reals("2x0xf32", {}), reals("0x1xf32", {})})
            .low == Row{0, 0});
  TensorData batched =
      evaluate("%y = halftone.contract %0, %1 {lhs_batch = array<i64: 1>, rhs_batch = array<i64: 0>, "
               "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>} : "
               "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3xf32>",
               "3xf32", {reals("2x3xf32", {1, 2, 3, 4, 5, 6}), reals("3x2xf32", {1, 10, 100, 1000, 2, 3})});
  CHECK(batched.low == Row{41, 5200, 24});
}

TEST_CASE("f16 contractions accumulate in f32 and round once") {
  Row a(3000, 1.0);
  TensorData y =
      evaluate("%y = halftone.contract %0, %0 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : "
               "(tensor<3000xf16>, tensor<3000xf16>) -> tensor<f16>",
               "f16", {reals("3000xf16", a)});
  CHECK(y.low == Row{3000});
}

TEST_CASE("bounds of sums and contractions hold sums in any order") {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  Row a, b;
  for (int i = 0; i < 1000; ++i) {
    a.push_back(normal(random));
    b.push_back(normal(random));
  }
  TensorData sum = reduced("sum", ": 0", "f32", reals("1000xf32", a), true);
  TensorData dot =
      evaluate("%y = halftone.contract %0, %1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : "
               "(tensor<1000xf32>, tensor<1000xf32>) -> tensor<f32>",
               "f32", {reals("1000xf32", a), reals("1000xf32", b)}, true);
  std::vector<int> order(1000);
  for (int i = 0; i < 1000; ++i)
    order[i] = i;
  for (int trial = 0; trial < 50; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    float total = 0, product = 0;
    for (int i : order) {
      total += static_cast<float>(a[i]);
      product += static_cast<float>(a[i]) * static_cast<float>(b[i]);
    }
    CHECK((sum.low[0] <= total && total <= sum.high[0]));
    CHECK((dot.low[0] <= product && product <= dot.high[0]));
  }
  CHECK(sum.high[0] - sum.low[0] < 0.5);
}

static TensorData summed(const std::string &attributes, const std::string &type, const std::string &result,
                         const TensorData &x, bool intervals = false) {
  return evaluate("%y = halftone.cumsum %0 {" + attributes + "} : tensor<" + type + "> -> tensor<" + result + ">",
                  result, {x}, intervals);
}

TEST_CASE("cumsum adds elements up in either direction, wraps integers and rounds each sum of narrow floats once") {
  TensorData x = reals("2x3xf32", {1, 2, 3, 4, 5, -6});
  CHECK(summed("axis = 0 : i64", "2x3xf32", "2x3xf32", x).low == Row{1, 2, 3, 5, 7, -3});
  CHECK(summed("axis = 1 : i64", "2x3xf32", "2x3xf32", x).low == Row{1, 3, 6, 4, 9, 3});
  CHECK(summed("axis = 1 : i64, reverse", "2x3xf32", "2x3xf32", x).low == Row{6, 5, 3, 3, -1, -6});
  CHECK(summed("axis = 0 : i64", "3xi8", "3xi8", wholes("3xi8", {100, 100, 1})).integers == Ints{100, -56, -55});
  CHECK(summed("axis = 0 : i64", "3xui8", "3xui8", wholes("3xui8", {200, 100, 1})).integers == Ints{200, 44, 45});
  TensorData halves = reals("3xf16", {2048, 1, 1});
  CHECK(summed("axis = 0 : i64", "3xf16", "3xf16", halves).low == Row{2048, 2048, 2050});
  CHECK(summed("axis = 0 : i64", "3xf16", "3xf32", halves).low == Row{2048, 2049, 2050});
  CHECK(summed("axis = 0 : i64", "0xf32", "0xf32", reals("0xf32", {})).low.empty());
}

TEST_CASE("cumsum of another kind multiplies, or keeps the largest or the smallest element, and NaN") {
  const auto combined = [](const std::string &kind, const std::string &more, const std::string &type,
                           const TensorData &x) {
    return summed("axis = 0 : i64" + more + ", kind = #halftone<reduce_kind " + kind + ">", type, type, x);
  };
  TensorData x = reals("4xf32", {2, -3, 0.5, 4});
  CHECK(combined("prod", "", "4xf32", x).low == Row{2, -6, -3, -12});
  CHECK(combined("prod", ", reverse", "4xf32", x).low == Row{-12, -6, 2, 4});
  CHECK(combined("max", "", "4xf32", x).low == Row{2, 2, 2, 4});
  CHECK(combined("min", ", reverse", "4xf32", x).low == Row{-3, -3, 0.5, 4});
  CHECK(combined("prod", "", "3xui8", wholes("3xui8", {100, 3, 2})).integers == Ints{100, 44, 88});
  CHECK(combined("max", "", "3xui8", wholes("3xui8", {100, 200, 2})).integers == Ints{100, 200, 200});
  const TensorData nan = combined("max", "", "3xf32", reals("3xf32", {1, std::nan(""), 2}));
  CHECK(nan.low[0] == 1);
  CHECK((std::isnan(nan.low[1]) && std::isnan(nan.low[2])));
}

TEST_CASE("the interval of each sum holds the sums in any order, and knows nothing of those behind it") {
  const Row x = {0.1f, 0.2f, 0.3f, inf};
  TensorData y = summed("axis = 0 : i64", "4xf32", "4xf32", reals("4xf32", x), true);
  double exact = 0;
  for (size_t i = 0; i < 3; ++i) {
    exact += x[i];
    CHECK(y.low[i] <= exact);
    CHECK(y.high[i] >= exact);
    CHECK(y.high[i] - y.low[i] < 1e-6);
  }
  CHECK(y.low[3] == inf);
}
