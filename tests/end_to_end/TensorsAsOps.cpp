// Arithmetic on Tensors equals that of ops on the same data: dtypes, bits, broadcasting and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
constexpr DType everyDtype[] = {bool_,    uint8,   uint16,  uint32,        DType::uint64,
                                int8,     int16,   int32,   DType::int64,  float16,
                                bfloat16, float32, float64, float8_e4m3fn, float8_e5m2};
const std::vector<double> samples{0,    -0.0, 1,     -1,  3,    0.1,          -2.5,  7,        100,       255,
                                  -128, 1000, 65504, 1e9, 1e-7, 4294967295.0, -1e20, INFINITY, -INFINITY, NAN};
std::vector<Value> ofValues(const Value &a, const Value &b) { return {a + b, a - b, a * b, a / b}; }
std::vector<Tensor> ofTensors(const Tensor &a, const Tensor &b) { return {a + b, a - b, a * b, a / b}; }

/// Compares bits; all NaNs are equal.
bool areEqual(const Tensor &a, const Tensor &b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return false;
  if (!is_float(a.dtype()))
    return a.astype(DType::int64).to_vector<int64_t>() == b.astype(DType::int64).to_vector<int64_t>();
  const std::vector<double> first = numbers(a), second = numbers(b);
  for (size_t i = 0; i < first.size(); ++i)
    if (std::isnan(first[i]) ? !std::isnan(second[i])
                             : first[i] != second[i] || std::signbit(first[i]) != std::signbit(second[i]))
      return false;
  return true;
}
} // namespace

TEST_CASE("Arithmetic of Tensors has the dtypes and the bits of ops, for each pair of dtypes") {
  size_t compared = 0, refused = 0;
  for (const DType first : everyDtype)
    for (const DType second : everyDtype) {
      INFO(name(first) << " and " << name(second));
      const Tensor a = Tensor(samples).astype(first).reshape({-1, 1}), b = Tensor(samples).astype(second);
      std::vector<Tensor> expected;
      const std::string error = errorOf([&] {
        expected = runOnce(Run::strict, {a, b}, [](const std::vector<Value> &v) { return ofValues(v[0], v[1]); });
      });
      if (!error.empty()) {
        CHECK(errorOf([&] { (void)ofTensors(a, b); }) == error);
        ++refused;
        continue;
      }
      const std::vector<Tensor> found = ofTensors(a, b);
      for (size_t i = 0; i < found.size(); ++i) {
        INFO("operator " << "+-*/"[i]);
        CHECK(areEqual(found[i], expected[i]));
        ++compared;
      }
    }
  CHECK(compared + 4 * refused == 4 * std::size(everyDtype) * std::size(everyDtype));
  CHECK(compared >= size_t(4 * 13 * 13));
}

TEST_CASE("The negative of a Tensor, and a float Tensor beside a number, are those of ops") {
  for (const DType dtype : everyDtype) {
    INFO(name(dtype));
    const Tensor x = Tensor(samples).astype(dtype);
    if (dtype != bool_)
      CHECK(areEqual(
          -x, runOnce(Run::strict, {x}, [](const std::vector<Value> &v) { return std::vector<Value>{-v[0]}; })[0]));
    const std::vector<Tensor> expected = runOnce(Run::strict, {x}, [](const std::vector<Value> &v) {
      return std::vector<Value>{v[0] + 0.1, 0.1 - v[0], v[0] * 3.0, v[0] / 3.0, 0.1 / v[0]};
    });
    const std::vector<Tensor> found{x + 0.1, 0.1 - x, x * 3.0, x / 3.0, 0.1 / x};
    for (size_t i = 0; i < found.size(); ++i) {
      INFO("operator " << i);
      CHECK(areEqual(found[i], expected[i]));
    }
  }
}

TEST_CASE("Shapes of Tensors broadcast and are refused as those of ops") {
  const std::vector<Shape> shapes{{}, {1}, {0}, {3}, {2, 3}, {2, 1}, {1, 3}, {0, 3}, {2, 0}, {4, 1, 3}, {1, 1, 1}};
  for (const Shape &first : shapes)
    for (const Shape &second : shapes) {
      INFO(first.str() << " and " << second.str());
      const Tensor a = counted(first), b = counted(second);
      std::vector<Tensor> expected, found;
      const auto add = [](const std::vector<Value> &v) { return std::vector<Value>{v[0] + v[1]}; };
      const std::string error = errorOf([&] { expected = runOnce(Run::interpreted, {a, b}, add); });
      CHECK(errorOf([&] { found = {a + b}; }) == error);
      if (error.empty())
        CHECK(areEqual(found[0], expected[0]));
    }
}
