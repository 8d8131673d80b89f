// Elementwise operations: scalars as operands, bounds, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using Body = std::function<std::vector<Value>(const std::vector<Value> &)>;

static std::vector<Tensor> of(const Tensor &x, const Body &body) { return runOnce(Run::compiled, {x}, body); }
static std::string refusal(const Tensor &x, const std::function<Value(const Value &)> &f) {
  return errorOf([&] {
    (void)runOnce(Run::interpreted, {x}, [&](const std::vector<Value> &v) { return std::vector<Value>{f(v[0])}; });
  });
}

TEST_CASE("The kind of a number decides: integers leave integers as they are and make bools int32, reals make floats") {
  Tensor bools = Tensor(std::vector<int32_t>{0, 1}, {2}).astype(DType::bool_), bytes(std::vector<int8_t>{100, -3}, {2});
  for (const Tensor &y :
       of(bools, [](const std::vector<Value> &v) { return std::vector<Value>{v[0] + 2, 2 - v[0], v[0] * 3}; }))
    CHECK(y.dtype() == int32);
  for (const Tensor &y : of(bools, [](const std::vector<Value> &v) {
         return std::vector<Value>{v[0] + 0.5, v[0] + 2.0, v[0] / 2, v[0] * 1e30,
                                   v[0] + std::numeric_limits<double>::infinity()};
       }))
    CHECK(y.dtype() == float32);
  for (const Tensor &y : of(bools, [](const std::vector<Value> &v) {
         return std::vector<Value>{v[0] + true, v[0] * true, ops::maximum(false, v[0]), v[0] & true};
       }))
    CHECK(y.dtype() == bool_);
  std::vector<Tensor> y = of(bytes, [](const std::vector<Value> &v) {
    return std::vector<Value>{v[0] + 100, v[0] - true, v[0] * 0.5, v[0] * 2.0};
  });
  CHECK(y[0].dtype() == int8);
  CHECK(numbers(y[0]) == Row{-56, 97}); // wraps
  CHECK(y[1].dtype() == int8);
  CHECK(numbers(y[1]) == Row{99, -4});
  CHECK(numbers(y[2]) == Row{50, -1.5});
  CHECK(y[3].dtype() == float32);
  CHECK(numbers(y[3]) == Row{200, -6});
}

// policies 5.3
TEST_CASE("Each operation of two operands has the dtype that its number gives, on the left and on the right") {
  using Binary = Value (*)(const Operand &, const Operand &);
  constexpr Binary promoting[] = {ops::subtract, ops::power, ops::mod, ops::floor_divide, ops::squared_difference};
  constexpr Binary inFloats[] = {ops::divide, ops::divide_no_nan, ops::arctan2, ops::logaddexp, ops::hypot};
  struct Beside {
    DType dtype;
    Operand number;
    DType promoted;
  };
  const Beside rows[] = {{bfloat16, 2, bfloat16}, {bfloat16, 0.1, bfloat16}, {float16, true, float16},
                         {int8, 2, int8},         {int8, 2.0, float32},      {uint8, true, uint8},
                         {bool_, 2, int32},       {bool_, 2.0, float32},     {int32, 0.5F, float32}};
  for (const Beside &row : rows) {
    const Tensor x = Tensor::ones({2}).astype(row.dtype);
    const DType asFloat = is_float(row.promoted) ? row.promoted : float32;
    const auto check = [&](Binary op, DType expected) {
      for (const Tensor &y : runOnce(Run::interpreted, {x}, [&](const std::vector<Value> &v) {
             return std::vector<Value>{op(v[0], row.number), op(row.number, v[0])};
           })) {
        INFO(name(row.dtype) << " gives " << name(y.dtype()) << ", expected " << name(expected));
        CHECK(y.dtype() == expected);
      }
    };
    for (const Binary op : promoting)
      check(op, row.promoted);
    for (const Binary op : inFloats)
      check(op, asFloat);
    check([](const Operand &a,
             const Operand &b) { return ops::where(Operand(a).is_number() ? b.value() : a.value(), a, b); },
          row.promoted);
    check(ops::less, bool_);
    check(ops::logical_or, bool_);
  }
}

TEST_CASE("Two numbers are int32, floatx or bool scalars") {
  const std::vector<Tensor> y = runOnce(Run::compiled, {}, [](const std::vector<Value> &) {
    return std::vector<Value>{ops::add(2, 3),
                              ops::add(2, 3.0),
                              ops::maximum(true, false),
                              ops::add(true, 3),
                              ops::divide(1, 4),
                              ops::greater(2, 1.5),
                              ops::where(ops::greater(2, 1), 7, 8),
                              ops::power(2.0, 3)};
  });
  const Row expected{5, 5, 1, 4, 0.25, 1, 7, 8};
  const DType dtypes[] = {int32, float32, bool_, int32, float32, bool_, int32, float32};
  for (size_t i = 0; i < y.size(); ++i) {
    CHECK(y[i].shape() == Shape());
    CHECK(numbers(y[i]) == Row{expected[i]});
    CHECK(y[i].dtype() == dtypes[i]);
  }
}

TEST_CASE("Operators compute as their operations, and a += b rebinds one handle") {
  const Tensor x(std::vector<int32_t>{-7, 0, 5}, {3});
  const std::vector<Tensor> y = of(x, [](const std::vector<Value> &v) {
    const Value &x = v[0];
    Value sum = x, other = sum;
    sum += 2;
    sum *= x;
    sum %= 4;
    return std::vector<Value>{x % 3,
                              x == 0,
                              x != 0,
                              0 < x,
                              x <= 0,
                              5 > x,
                              x >= 5,
                              x & 3,
                              x | 1,
                              x ^ 1,
                              ~x,
                              !(x == 0),
                              sum,
                              other,
                              (x > -1) & (x < 5),
                              (x < 0) | (x > 0),
                              (x < 0) ^ (x > -1)};
  });
  const Row expected[] = {{2, 0, 2}, {0, 1, 0},  {1, 0, 1},  {0, 0, 1},  {1, 1, 0},   {1, 1, 0},
                          {0, 0, 1}, {1, 0, 1},  {-7, 1, 5}, {-8, 1, 4}, {6, -1, -6}, {1, 0, 1},
                          {3, 0, 3}, {-7, 0, 5}, {0, 1, 0},  {1, 0, 1},  {1, 1, 1}};
  REQUIRE(y.size() == std::size(expected));
  for (size_t i = 0; i < y.size(); ++i) {
    INFO("operator " << i);
    CHECK(numbers(y[i]) == expected[i]);
  }
}

TEST_CASE("Operators refuse chains of comparisons, bits of floats and numbers that an integer dtype lacks") {
  const Tensor x = counted({2});
  for (const auto &chain : std::vector<std::function<Value(const Value &)>>{
           [](const Value &v) { return (0 < v) < 1; }, [](const Value &v) { return 1 >= (v > 0); },
           [](const Value &v) { return (v > 0) <= (v > 1); }, [](const Value &v) { return (v > 0) > v; }})
    CHECK_THAT(refusal(x, chain), Contains("TypeError: an operator < <= > >= compares a bool Value") &&
                                      Contains("write (0 < x) & (x < 1)"));
  CHECK(numbers(of(x, [](const std::vector<Value> &v) {
          return std::vector<Value>{ops::less(v[0] > 0, v[0] < 5)};
        })[0]) == Row{1, 0});
  CHECK_THAT(refusal(x, [](const Value &v) { return v & 1; }),
             Contains("TypeError: bitwise_and takes integers or bools"));
  const Tensor bytes(std::vector<uint8_t>{1}, {1});
  CHECK_THAT(refusal(bytes, [](const Value &v) { return v & 0.5; }), Contains("TypeError: bitwise_and takes"));
  CHECK_THAT(refusal(bytes, [](const Value &v) { return v - 300; }),
             Contains("ValueError: sub: uint8 cannot represent 300"));
  CHECK_THAT(refusal(bytes, [](const Value &v) { return ops::where(v > 0, v, -1); }),
             Contains("ValueError: where: uint8 cannot represent -1"));
  CHECK_THROWS_WITH(jit([](const Value &v) { return 0 < v < 1; })(x), Contains("compares a bool Value"));
}

TEST_CASE("A float8 that has no infinity is compared with the number itself, whatever the number rounds to") {
  for (const DType dtype : {float8_e4m3fn, float8_e5m2}) {
    const Tensor x = Tensor(Row{-3, 1, 448}, {3}).astype(dtype);
    const std::vector<Tensor> y = of(x, [](const std::vector<Value> &v) {
      return std::vector<Value>{v[0]<1e6, 1e6> v[0], v[0] >= -1e6, v[0] == 1e6, v[0] != 500000, v[0] == 1};
    });
    const Row expected[] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}};
    for (size_t i = 0; i < y.size(); ++i) {
      INFO(name(dtype) << " " << i);
      CHECK(numbers(y[i]) == expected[i]);
    }
  }
}

TEST_CASE("A number bounds beside a Value as it does beside a number") {
  const Tensor x(std::vector<uint8_t>{1, 7, 200}, {3});
  const std::vector<Tensor> y = of(x, [](const std::vector<Value> &v) {
    const Value five = ops::full({}, 5, uint8);
    return std::vector<Value>{ops::clip(v[0], -9, five), ops::clip(v[0], five, 300), ops::clip(v[0], 2, five),
                              ops::clip(v[0], -0.5, five), ops::clip(v[0] > 5, 0, five)};
  });
  const Row expected[] = {{1, 5, 5}, {5, 7, 200}, {2, 5, 5}, {1, 5, 5}, {0, 1, 1}};
  const DType dtypes[] = {uint8, uint8, uint8, float32, int32};
  for (size_t i = 0; i < y.size(); ++i) {
    INFO(i);
    CHECK(numbers(y[i]) == expected[i]);
    CHECK(y[i].dtype() == dtypes[i]);
  }
  CHECK_THAT(refusal(x, [](const Value &v) { return ops::clip(v, 300, v); }),
             Contains("ValueError: clip: uint8 cannot represent 300"));
}

TEST_CASE("divide_no_nan gives 0 where the divisor is 0, and bounds of clip and values of full_like may be Values") {
  const Tensor x({1, -2, 0}, {3}), zero({0, 4, 0}, {3});
  const std::vector<Tensor> y = runOnce(Run::compiled, {x, zero}, [](const std::vector<Value> &v) {
    const Value z = ops::divide_no_nan(v[0], v[1]);
    return std::vector<Value>{z,
                              gradients(ops::sum(z), std::vector{v[0]})[0],
                              ops::divide_no_nan(v[0], 0),
                              ops::clip(v[0], v[1] - 1, 2),
                              ops::clip(v[0], -1, v[1]),
                              ops::full_like(v[0], ops::sum(v[1])),
                              ops::squared_difference(v[0], 1)};
  });
  const Row expected[] = {{0, -0.5, 0}, {0, 0.25, 0}, {0, 0, 0}, {1, 2, 0}, {0, -1, 0}, {4, 4, 4}, {0, 9, 1}};
  for (size_t i = 0; i < y.size(); ++i) {
    INFO(i);
    CHECK(numbers(y[i]) == expected[i]);
  }
}

TEST_CASE("bounds beyond an integer's range bound nothing, and cannot be reached from the other side") {
  Tensor x(std::vector<uint8_t>{0, 7, 200}, {3});
  std::vector<Tensor> y = of(x, [](const std::vector<Value> &v) {
    return std::vector<Value>{ops::clip(v[0], -5, 100), ops::clip(v[0], 3, 1000), ops::clip(v[0], 0, HUGE_VAL),
                              ops::clip(v[0], 0.5, 8)};
  });
  CHECK(numbers(y[0]) == Row{0, 7, 100});
  CHECK(y[0].dtype() == uint8);
  CHECK(numbers(y[1]) == Row{3, 7, 200});
  CHECK(y[2].dtype() == float32);
  CHECK(numbers(y[3]) == Row{0.5, 7, 8});
  CHECK_THAT(refusal(x, [](const Value &v) { return ops::clip(v, -9, -5); }),
             Contains("ValueError") && Contains("clip: uint8 cannot represent -5"));
}

TEST_CASE("bools have no sign, and axes without elements no largest one") {
  Tensor bools = Tensor(std::vector<int32_t>{0, 1}, {2}).astype(DType::bool_);
  CHECK_THAT(refusal(bools, [](const Value &v) { return -v; }),
             Contains("TypeError: negative takes numbers, got bool"));
  CHECK_THAT(refusal(bools, [](const Value &v) { return ops::sign(v); }), Contains("TypeError: sign takes numbers"));
  CHECK_THAT(refusal(Tensor::zeros({0, 3}), [](const Value &v) { return ops::argmax(v, 0); }),
             Contains("ValueError: argmax: axis 0 of shape (0, 3) is empty"));
}

TEST_CASE("int8 products too many for int32 wrap as int32 does") {
  const int64_t depth = 140000; // 127 * 127 * 140000 is 2258060000, more than the largest int32
  Tensor x(std::vector<int8_t>(depth, 127), {depth});
  std::vector<Tensor> y = runOnce(
      Run::compiled, {x, x}, [](const std::vector<Value> &v) { return std::vector<Value>{ops::matmul(v[0], v[1])}; });
  CHECK(y[0].dtype() == int32);
  CHECK(numbers(y[0]) == Row{2258060000.0 - 0x1p32});
}

TEST_CASE("a vector multiplies each matrix of a batch") {
  Tensor v({1, 2, 3}, {3}), m = Tensor::ones({2, 3, 4});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {v, m}, [](const std::vector<Value> &x) {
      Value product = ops::matmul(x[0], x[1]);
      std::vector<Value> slopes = gradients(ops::sum(product), x);
      return std::vector<Value>{product, slopes[0], slopes[1]};
    });
    CHECK(y[0].shape() == Shape({2, 4}));
    CHECK(numbers(y[0]) == Row(8, 6));
    CHECK(numbers(y[1]) == Row{8, 8, 8});
    CHECK(y[2].shape() == Shape({2, 3, 4}));
  }
  CHECK_THAT(errorOf([&] {
               (void)runOnce(Run::interpreted, {v, Tensor::ones({2, 4, 4})},
                             [](const std::vector<Value> &x) { return std::vector<Value>{ops::matmul(x[0], x[1])}; });
             }),
             Contains("matmul of (3,) and (2, 4, 4)"));
}
