// Elementwise operations: scalars beside tensors, bounds, and errors.
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

TEST_CASE("whole numbers leave integers as they are and make bools int32; others make floats") {
  Tensor bools = Tensor(std::vector<int32_t>{0, 1}, {2}).astype(DType::bool_), bytes(std::vector<int8_t>{100, -3}, {2});
  for (const Tensor &y :
       of(bools, [](const std::vector<Value> &v) { return std::vector<Value>{v[0] + 2.0, 2.0 - v[0], v[0] * 3.0}; }))
    CHECK(y.dtype() == int32);
  for (const Tensor &y : of(bools, [](const std::vector<Value> &v) {
         return std::vector<Value>{v[0] + 0.5, v[0] / 2.0, v[0] * 1e30, v[0] + std::numeric_limits<double>::infinity()};
       }))
    CHECK(y.dtype() == float32);
  std::vector<Tensor> y = of(bytes, [](const std::vector<Value> &v) {
    return std::vector<Value>{v[0] + 100.0, v[0] - 1.0, v[0] * 0.5, v[0] * 1e30};
  });
  CHECK(y[0].dtype() == int8);
  CHECK(numbers(y[0]) == Row{-56, 97}); // wraps
  CHECK(numbers(y[1]) == Row{99, -4});
  CHECK(numbers(y[2]) == Row{50, -1.5});
  CHECK(y[3].dtype() == float32);
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
             Contains("ValueError") && Contains("clip: uint8 has no number -5"));
}

TEST_CASE("bools have no sign, and axes without elements no largest one") {
  Tensor bools = Tensor(std::vector<int32_t>{0, 1}, {2}).astype(DType::bool_);
  CHECK_THAT(refusal(bools, [](const Value &v) { return -v; }),
             Contains("TypeError: negative takes numbers, got bool"));
  CHECK_THAT(refusal(bools, [](const Value &v) { return ops::sign(v); }), Contains("TypeError: sign takes numbers"));
  CHECK_THAT(refusal(Tensor::zeros({0, 3}), [](const Value &v) { return ops::argmax(v, 0); }),
             Contains("ValueError: argmax: axis 0 of shape (0, 3) has no element"));
}

TEST_CASE("int8 products too many for int32 wrap as int32 does") {
  const int64_t depth = 140000; // 127 * 127 * 140000 is 2258060000, above the largest int32
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
