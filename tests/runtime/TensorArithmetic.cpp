// Tensor arithmetic compared with plain loops: dtypes, broadcasting, wrapping and rounding.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/base/Floatx.h"
#include "runtime/base/Half.h"
#include "runtime/devices/Registry.h"
#include "tests/runtime/devices/FarDevice.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>

using namespace halftone;
using Catch::Contains;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

namespace {
template <class Function> std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
constexpr DType dtypes[] = {bool_,        uint8,   uint16,   uint32,  DType::uint64, int8,          int16,      int32,
                            DType::int64, float16, bfloat16, float32, float64,       float8_e4m3fn, float8_e5m2};
const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
/// Each dtype changes some of these: it wraps, clamps, rounds or overflows.
const std::vector<double> samples{0,    1,    -1,    3,   0.1,  -2.5,         7,     100, 255,
                                  -128, 1000, 65504, 1e9, 1e-7, 4294967295.0, -1e20, inf, nan};
/// An element; of integers the lowest 64 bits.
struct Element {
  double real = 0;
  uint64_t bits = 0;
};
std::vector<Element> elementsOf(const Tensor &tensor) {
  const bool isUnsigned = tensor.dtype() == DType::uint64;
  const auto reals = tensor.astype(float64).to_vector<double>();
  std::vector<uint64_t> bits;
  if (isUnsigned)
    bits = tensor.to_vector<uint64_t>();
  else
    for (const int64_t value : tensor.astype(DType::int64).to_vector<int64_t>())
      bits.push_back(static_cast<uint64_t>(value));
  std::vector<Element> elements;
  for (size_t i = 0; i < bits.size(); ++i)
    elements.push_back({reals[i], bits[i]});
  return elements;
}
struct Operator {
  char sign;
  Tensor (*of)(const Tensor &, const Tensor &);
  double (*reals)(double, double);
  uint64_t (*integers)(uint64_t, uint64_t);
};
const Operator operators[] = {
    {'+', [](const Tensor &a, const Tensor &b) { return a + b; }, [](double a, double b) { return a + b; },
     [](uint64_t a, uint64_t b) { return a + b; }},
    {'-', [](const Tensor &a, const Tensor &b) { return a - b; }, [](double a, double b) { return a - b; },
     [](uint64_t a, uint64_t b) { return a - b; }},
    {'*', [](const Tensor &a, const Tensor &b) { return a * b; }, [](double a, double b) { return a * b; },
     [](uint64_t a, uint64_t b) { return a * b; }},
    {'/', [](const Tensor &a, const Tensor &b) { return a / b; }, [](double a, double b) { return a / b; }, nullptr}};

DType expectedDtype(const Operator &op, DType a, DType b) {
  const DType common = a == b ? a : result_type(a, b);
  if (op.sign == '/' && !is_float(common))
    return float32;
  return op.sign == '-' && common == bool_ ? int32 : common;
}
bool isFloat8(DType dtype) { return dtype == float8_e4m3fn || dtype == float8_e5m2; }

/// All pairs of elements, one by one.
void checkAgainstLoop(const Operator &op, const Tensor &a, const Tensor &b) {
  const DType dtype = expectedDtype(op, a.dtype(), b.dtype());
  const Tensor result = op.of(a.reshape({-1, 1}), b);
  REQUIRE(result.dtype() == dtype);
  REQUIRE(result.shape() == Shape{a.size(), b.size()});
  const auto left = elementsOf(a.astype(dtype)), right = elementsOf(b.astype(dtype)), found = elementsOf(result);
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t j = 0; j < right.size(); ++j) {
      const Element &element = found[i * right.size() + j];
      if (is_float(dtype)) {
        const double expected = roundTo(dtype, op.reals(left[i].real, right[j].real));
        if (!(std::isnan(expected) ? std::isnan(element.real)
                                   : std::bit_cast<uint64_t>(expected) == std::bit_cast<uint64_t>(element.real)))
          FAIL(left[i].real << op.sign << right[j].real << " is " << expected << ", not " << element.real << " in "
                            << name(dtype));
        continue;
      }
      const uint64_t exact = op.integers(left[i].bits, right[j].bits);
      const bool isWide = dtype == DType::uint64 || dtype == DType::int64;
      const uint64_t expected =
          isWide ? exact : elementsOf(Tensor::scalar(static_cast<int64_t>(exact)).astype(dtype))[0].bits;
      if (expected != element.bits)
        FAIL(left[i].bits << op.sign << right[j].bits << " is " << expected << ", not " << element.bits << " in "
                          << name(dtype));
    }
}
} // namespace

TEST_CASE("Arithmetic of each pair of dtypes has the dtype of ops, wraps integers and rounds floats once") {
  size_t pairs = 0, refused = 0;
  for (const DType first : dtypes)
    for (const DType second : dtypes) {
      const Tensor a = Tensor(samples).astype(first), b = Tensor(samples).astype(second);
      for (const Operator &op : operators) {
        if (first != second && (isFloat8(first) || isFloat8(second))) {
          CHECK_THAT(errorOf([&] { (void)op.of(a, b); }), Contains("ValueError") && Contains("float8"));
          ++refused;
        } else {
          checkAgainstLoop(op, a, b);
          ++pairs;
        }
      }
    }
  CHECK(pairs == 4 * (13 * 13 + 2));
  CHECK(refused == 4 * (15 * 15 - 13 * 13 - 2));
}

TEST_CASE("Arithmetic broadcasts as NumPy's, at each rank and with extents of 0 and 1") {
  const std::vector<std::pair<Shape, Shape>> shapes{{{}, {}},
                                                    {{}, {3}},
                                                    {{3}, {}},
                                                    {{3}, {1}},
                                                    {{2, 3}, {3}},
                                                    {{2, 1}, {1, 3}},
                                                    {{2, 3}, {2, 1}},
                                                    {{1, 1}, {2, 3}},
                                                    {{4, 1, 3}, {2, 1}},
                                                    {{0}, {1}},
                                                    {{0, 3}, {3}},
                                                    {{2, 0}, {1, 1}},
                                                    {{1}, {0}},
                                                    {{2, 1, 2, 1}, {3}},
                                                    {{5, 1, 4}, {1, 6, 1}},
                                                    {{1}, {1, 1, 1}},
                                                    {{2, 1, 1, 3}, {2, 1, 3}},
                                                    {{3000}, {2, 1}}};
  for (const auto &[first, second] : shapes) {
    const auto counted = [](const Shape &shape, float from) {
      Floats numbers(static_cast<size_t>(shape.elements()));
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = from + static_cast<float>(i);
      return Tensor(std::move(numbers), shape);
    };
    const Tensor a = counted(first, 1), b = counted(second, 100), difference = a - b;
    const int64_t rank = std::max(first.rank(), second.rank());
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    for (const Shape &shape : {first, second})
      for (int64_t i = 1; i <= shape.rank(); ++i)
        if (int64_t &extent = dims[static_cast<size_t>(rank - i)]; extent == 1)
          extent = shape[-i];
    REQUIRE(difference.shape() == Shape(dims));
    const auto place = [&](int64_t index, const Shape &shape) { // the index in the operand
      int64_t found = 0, stride = 1;
      for (int64_t i = 1; i <= rank; ++i) {
        const int64_t extent = dims[static_cast<size_t>(rank - i)], along = index % extent;
        index /= extent;
        if (i > shape.rank())
          continue;
        found += shape[-i] == 1 ? 0 : along * stride;
        stride *= shape[-i];
      }
      return static_cast<float>(found);
    };
    const Floats found = difference.to_vector<float>();
    for (int64_t i = 0; i < difference.size(); ++i)
      if (found[static_cast<size_t>(i)] != 1 + place(i, first) - (100 + place(i, second)))
        FAIL("element " << i << " of " << first.str() << " - " << second.str());
  }
  CHECK_THAT(errorOf([] { (void)(Tensor({1, 2}) + Tensor({1, 2, 3})); }),
             Contains("ValueError: add of shapes (2,) and (3,), which cannot be broadcast together"));
  CHECK_THAT(errorOf([] { (void)(Tensor::zeros({0}) / Tensor::zeros({2})); }),
             Contains("ValueError: divide of shapes"));
}

TEST_CASE("A number beside a tensor is rounded to its float dtype, and gives floatx beside integers and bools") {
  for (const DType dtype : dtypes) {
    const Tensor t = Tensor::ones({2}, dtype);
    const DType expected = is_float(dtype) ? dtype : float32;
    const double tenth = roundTo(expected, 0.1);
    for (const auto &[result, value] : {std::pair{t + 0.1, 1 + tenth},
                                        {0.1 + t, 1 + tenth},
                                        {t - 0.1, 1 - tenth},
                                        {0.1 - t, tenth - 1},
                                        {t * 0.1, tenth},
                                        {0.1 * t, tenth},
                                        {t / 0.1, 1 / tenth},
                                        {0.1 / t, tenth}}) {
      CHECK(result.dtype() == expected);
      CHECK(result[1].item() == roundTo(expected, value));
    }
  }
  CHECK((Tensor({3}, int32) / 2).item() == 1.5);
  CHECK((2 * Tensor({1, 2})).to_vector<float>() == Floats{2, 4});
  CHECK((Tensor({1, 2}) - size_t(1)).to_vector<float>() == Floats{0, 1});
  CHECK(std::isinf((Tensor({60000}, float16) + 60000).item()));
  CHECK(std::isinf((1 / Tensor({0})).item()));
  CHECK(std::isnan((Tensor({0}, int32) / 0).item()));
  setFloatx(bfloat16);
  const DType beside = (Tensor::ones({1}, int32) + 1).dtype(),
              between = (Tensor::ones({1}, int32) / Tensor::ones({1}, int32)).dtype();
  setFloatx(float32);
  CHECK(beside == bfloat16);
  CHECK(between == bfloat16);
}

TEST_CASE(
    "The negative of a tensor keeps its dtype: unsigned integers wrap, zeros change their sign, bools have none") {
  CHECK((-Tensor({1, -2}, int8)).to_vector<int8_t>() == std::vector<int8_t>{-1, 2});
  CHECK((-Tensor({-128}, int8)).to_vector<int8_t>() == std::vector<int8_t>{-128});
  CHECK((-Tensor({1, 0}, uint8)).to_vector<uint8_t>() == std::vector<uint8_t>{255, 0});
  CHECK((-Tensor({INT64_MAX}, DType::int64)).to_vector<int64_t>() == std::vector<int64_t>{-INT64_MAX});
  CHECK((-Tensor({uint64_t(1)}, DType::uint64)).to_vector<uint64_t>() == std::vector<uint64_t>{UINT64_MAX});
  for (const DType dtype : {float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2}) {
    CHECK((-Tensor({1.5}, dtype)).dtype() == dtype);
    CHECK((-Tensor({1.5}, dtype)).item() == -1.5);
    CHECK(std::signbit((-Tensor({0.0}, dtype)).item()));
  }
  CHECK((-Tensor::zeros({0, 2})).shape() == Shape{0, 2});
  CHECK_THAT(errorOf([] { (void)-Tensor({1}, bool_); }), Contains("TypeError: negative takes numbers, got bool"));
}

TEST_CASE("a += b gives the handle a new tensor, which no other handle sees") {
  Tensor a({1, 2});
  const Tensor other = a;
  a += a;
  a *= 3;
  a -= Tensor({1});
  a /= 2.0;
  CHECK(a.to_vector<float>() == Floats{2.5, 5.5});
  CHECK(other.to_vector<float>() == Floats{1, 2});
  a += Tensor({{1}, {2}});
  CHECK(a.shape() == Shape{2, 2});
  CHECK_THAT(errorOf([&] { a += Tensor({1, 2, 3}); }), Contains("ValueError"));
  CHECK(a.to_vector<float>() == Floats{3.5, 6.5, 4.5, 7.5}); // unchanged
}

TEST_CASE("Arithmetic does not depend on the rounding mode of the program") {
  const Tensor third = Tensor({1}) / Tensor({3});
  std::fesetround(FE_UPWARD);
  const Tensor upward = Tensor({1}) / Tensor({3});
  std::fesetround(FE_TONEAREST);
  CHECK(upward.item() == third.item());
}

TEST_CASE("Arithmetic refuses undefined tensors and those in a device's memory") {
  const Tensor t({1, 2});
  Tensor gone({1});
  const Tensor taken = std::move(gone);
  for (const Tensor &bad : {Tensor(), gone}) {
    CHECK_THAT(errorOf([&] { (void)(t + bad); }), Contains("ValueError: The tensor is undefined"));
    CHECK_THAT(errorOf([&] { (void)(bad * t); }), Contains("ValueError: The tensor is undefined"));
    CHECK_THAT(errorOf([&] { (void)(2 / bad); }), Contains("ValueError: The tensor is undefined"));
    CHECK_THAT(errorOf([&] { (void)-bad; }), Contains("ValueError: The tensor is undefined"));
  }
  const auto far = test::FarDevice::create("cuda:93");
  REQUIRE(addDevice(far).isOk());
  const Tensor away = t.to(Device::cuda(93));
  for (const auto &refused : std::vector<std::function<Tensor()>>{[&] { return away + t; }, [&] { return t / away; },
                                                                  [&] { return away * 2; }, [&] { return -away; }})
    CHECK_THAT(errorOf([&] { (void)refused(); }), Contains("DeviceError") && Contains("to(Device::cpu())"));
  CHECK(far->counters().downloads == 0);
  removeDevice("cuda:93");
}
