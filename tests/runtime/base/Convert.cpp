// Conversion between arrays of any two dtypes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Convert.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace halftone;

static const DType storable[] = {DType::bool_,   DType::uint8,         DType::uint16,     DType::uint32,
                                 DType::uint64,  DType::int8,          DType::int16,      DType::int32,
                                 DType::int64,   DType::float16,       DType::bfloat16,   DType::float32,
                                 DType::float64, DType::float8_e4m3fn, DType::float8_e5m2};

template <class To> static To one(DType from, const void *source, DType to, Overflow overflow = Overflow::natural) {
  To result{};
  REQUIRE(sizeof(To) == size_t(itemsize(to)));
  convert(from, source, to, &result, 1, overflow).orThrow();
  return result;
}
template <class To> static To fromDouble(double value, DType to) { return one<To>(DType::float64, &value, to); }
template <class To> static To fromInt64(int64_t value, DType to) { return one<To>(DType::int64, &value, to); }

TEST_CASE("Small integers survive conversion between every pair of dtypes") {
  for (DType from : storable)
    for (DType to : storable) {
      INFO(name(from) << " to " << name(to));
      const std::vector<double> numbers = from == DType::bool_ || to == DType::bool_
                                              ? std::vector<double>{0, 1}
                                              : std::vector<double>{0, 1, 2, 7, 12, 14};
      const int64_t count = int64_t(numbers.size());
      uint64_t a[8], b[8];
      double back[8];
      REQUIRE(convert(DType::float64, numbers.data(), from, a, count).isOk());
      REQUIRE(convert(from, a, to, b, count).isOk());
      REQUIRE(convert(to, b, DType::float64, back, count).isOk());
      for (int64_t i = 0; i < count; ++i) {
        const double expected = from == DType::float8_e5m2 || to == DType::float8_e5m2
                                    ? roundTo(DType::float8_e5m2, numbers[size_t(i)])
                                    : numbers[size_t(i)];
        CHECK(back[i] == expected);
        CHECK(elementAsDouble(to, b, i) == expected);
      }
    }
}

// policies 5.2
TEST_CASE("Conversion from float to integer truncates, clamps, and takes NaN to 0") {
  CHECK(fromDouble<int32_t>(2.9, DType::int32) == 2);
  CHECK(fromDouble<int32_t>(-2.9, DType::int32) == -2);
  CHECK(fromDouble<int32_t>(1e10, DType::int32) == std::numeric_limits<int32_t>::max());
  CHECK(fromDouble<int32_t>(-1e10, DType::int32) == std::numeric_limits<int32_t>::min());
  CHECK(fromDouble<int32_t>(NAN, DType::int32) == 0);
  CHECK(fromDouble<uint8_t>(-1, DType::uint8) == 0);
  CHECK(fromDouble<uint8_t>(-0.9, DType::uint8) == 0);
  CHECK(fromDouble<uint8_t>(255.9, DType::uint8) == 255);
  CHECK(fromDouble<uint8_t>(256, DType::uint8) == 255);
  CHECK(fromDouble<int8_t>(-128.9, DType::int8) == -128);
  CHECK(fromDouble<int64_t>(0x1p63, DType::int64) == std::numeric_limits<int64_t>::max());
  CHECK(fromDouble<int64_t>(-INFINITY, DType::int64) == std::numeric_limits<int64_t>::min());
  CHECK(fromDouble<int64_t>(0x1.fffffffffffffp62, DType::int64) == 0x7ffffffffffffc00);
  CHECK(fromDouble<uint64_t>(INFINITY, DType::uint64) == std::numeric_limits<uint64_t>::max());
  CHECK(fromDouble<uint64_t>(0x1p63, DType::uint64) == uint64_t(1) << 63);
}

// policies 5.2
TEST_CASE("Conversion between integers wraps") {
  CHECK(fromInt64<uint8_t>(-1, DType::uint8) == 255);
  CHECK(fromInt64<int8_t>(200, DType::int8) == -56);
  CHECK(fromInt64<uint64_t>(-1, DType::uint64) == std::numeric_limits<uint64_t>::max());
  CHECK(fromInt64<int32_t>((int64_t(1) << 32) + 5, DType::int32) == 5);
  const uint8_t top = 255;
  CHECK(one<int8_t>(DType::uint8, &top, DType::int8) == -1);
  CHECK(one<int16_t>(DType::uint8, &top, DType::int16) == 255);
  const int8_t minus = -1;
  CHECK(one<uint32_t>(DType::int8, &minus, DType::uint32) == 0xffffffffu);
}

// policies 5.2
TEST_CASE("Conversion to bool is != 0") {
  CHECK(fromDouble<uint8_t>(0.25, DType::bool_) == 1);
  CHECK(fromDouble<uint8_t>(-0.0, DType::bool_) == 0);
  CHECK(fromDouble<uint8_t>(NAN, DType::bool_) == 1);
  CHECK(fromInt64<uint8_t>(256, DType::bool_) == 1);
  CHECK(fromInt64<uint8_t>(0, DType::bool_) == 0);
  const uint8_t loose = 7; // a bool byte other than 0 and 1 is true
  CHECK(one<float>(DType::bool_, &loose, DType::float32) == 1.0f);
}

// policies 5.2
TEST_CASE("Conversion of integers and doubles to a narrow float rounds once") {
  CHECK(fromInt64<uint16_t>((int64_t(1) << 62) + (int64_t(1) << 54) + 1, DType::bfloat16) ==
        Bfloat16::encode(0x1.02p62));
  CHECK(fromInt64<float>((int64_t(1) << 62) + (int64_t(1) << 38) + 1, DType::float32) == 0x1.000002p62f);
  CHECK(fromInt64<double>((int64_t(1) << 53) + 1, DType::float64) == 0x1p53);
  CHECK(fromInt64<uint16_t>(65519, DType::float16) == 0x7bff);
  CHECK(fromInt64<uint16_t>(65520, DType::float16) == 0x7c00);
  // A midpoint of two float16 values after rounding to float32.
  CHECK(fromDouble<uint16_t>(0x1.00200000001p0, DType::float16) == 0x3c01);
  CHECK(fromDouble<float>(1e39, DType::float32) == INFINITY);
}

TEST_CASE("Saturating conversion clamps, also to the same dtype") {
  const double large = 1e6;
  const float infinity = INFINITY, nan = NAN;
  CHECK(one<uint16_t>(DType::float64, &large, DType::float16, Overflow::saturate) == Float16::largest);
  CHECK(one<uint8_t>(DType::float64, &large, DType::float8_e4m3fn, Overflow::saturate) == Float8E4m3fn::largest);
  CHECK(one<uint8_t>(DType::float64, &large, DType::float8_e4m3fn) == 0x7f);
  CHECK(one<float>(DType::float32, &infinity, DType::float32, Overflow::saturate) == std::numeric_limits<float>::max());
  CHECK(std::isnan(one<float>(DType::float32, &nan, DType::float32, Overflow::saturate)));
}

TEST_CASE("Conversion refuses dtypes that tensors cannot hold") {
  const float x = 1;
  double y[2];
  for (DType bad : {DType::complex64, DType::complex128, DType::string}) {
    CHECK_FALSE(isStorable(bad));
    const Status status = convert(DType::float32, &x, bad, y, 1);
    CHECK(status.kind() == ErrorKind::type_error);
    CHECK(status.message().find(name(bad)) != std::string::npos);
    CHECK_FALSE(convert(bad, y, DType::float32, &y, 1).isOk());
  }
  for (DType good : storable)
    CHECK(isStorable(good));
  CHECK(convert(DType::float32, nullptr, DType::float32, nullptr, 0).isOk());
}
