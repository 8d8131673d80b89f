// Exact narrow floats compared with a slow oracle: a sorted table of all values, and the midpoints of neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Half.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace halftone;

/// The value of finite, non-negative bits, from the definition of the format.
template <class Format> static double slowValue(unsigned bits) {
  const int exponent = int(bits >> Format::mantissaBits);
  const int mantissa = int(bits & ((1u << Format::mantissaBits) - 1));
  const int hidden = exponent ? 1 << Format::mantissaBits : 0;
  return std::ldexp(double(hidden + mantissa), std::max(exponent, 1) - Format::bias - Format::mantissaBits);
}

/// values[b] is the value of bits b, for 0 <= b <= the largest finite one. The last entry is the value that would
/// follow the largest.
template <class Format> static std::vector<double> table() {
  std::vector<double> values;
  for (unsigned b = 0; b <= unsigned(Format::largest) + 1; ++b)
    values.push_back(slowValue<Format>(b));
  return values;
}

/// The bits of the nearest value, ties to even; one past the largest on overflow.
static unsigned slowRound(const std::vector<double> &values, double magnitude) {
  const unsigned top = unsigned(values.size()) - 1;
  if (magnitude >= values[top])
    return top;
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const unsigned low = unsigned(above - values.begin()) - 1;
  const double middle = (values[low] + values[low + 1]) / 2; // exact: it needs one bit more than the format
  if (magnitude != middle)
    return magnitude < middle ? low : low + 1;
  return low % 2 ? low + 1 : low;
}

template <class Format> static bool agrees(const std::vector<double> &values, double x) {
  const unsigned sign = std::signbit(x) ? unsigned(Format::signBit) : 0;
  const unsigned expected = slowRound(values, std::fabs(x));
  const unsigned clamped = std::min(expected, unsigned(Format::largest));
  return Format::encode(x) == typename Format::Storage(sign | expected) &&
         Format::encode(x, Overflow::saturate) == typename Format::Storage(sign | clamped);
}

TEMPLATE_TEST_CASE("Every narrow float decodes and encodes to itself", "", Float16, Bfloat16, Float8E4m3fn,
                   Float8E5m2) {
  const std::vector<double> values = table<TestType>();
  const unsigned count = 1u << (1 + TestType::exponentBits + TestType::mantissaBits);
  unsigned wrong = 0, nans = 0;
  for (unsigned b = 0; b < count; ++b) {
    const auto bits = typename TestType::Storage(b);
    const float value = TestType::decode(bits);
    const unsigned magnitude = b & ~unsigned(TestType::signBit);
    const bool negative = b & TestType::signBit;
    if (TestType::isNan(bits)) {
      ++nans;
      uint32_t wide;
      std::memcpy(&wide, &value, 4);
      const auto back = TestType::encode(value);
      wrong += !std::isnan(value) || !(wide & 0x400000) || std::signbit(value) != negative || !TestType::isNan(back) ||
               !(back & TestType::quietBit) || (back | TestType::quietBit) != (bits | TestType::quietBit);
      continue;
    }
    if (magnitude <= TestType::largest)
      wrong += std::fabs(double(value)) != values[magnitude];
    else
      wrong += !std::isinf(value);
    wrong +=
        std::signbit(value) != negative || TestType::encode(value) != bits || TestType::encode(double(value)) != bits;
  }
  CHECK(wrong == 0);
  CHECK(nans == (std::is_same_v<TestType, Float8E4m3fn> ? 2u : 2u * TestType::mantissaMask));
}

TEMPLATE_TEST_CASE("Every midpoint, its float neighbours and its double neighbours round once, ties to even", "",
                   Float16, Bfloat16, Float8E4m3fn, Float8E5m2) {
  const std::vector<double> values = table<TestType>();
  int64_t wrong = 0, checked = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const double middle = (values[i] + values[i + 1]) / 2;
    const float narrow = float(middle);
    REQUIRE(double(narrow) == middle);
    const double cases[] = {middle,
                            std::nextafterf(narrow, 0),
                            std::nextafterf(narrow, INFINITY),
                            std::nextafter(middle, 0),
                            std::nextafter(middle, double(INFINITY)),
                            values[i],
                            std::nextafter(values[i], double(INFINITY))};
    for (double x : cases) {
      wrong += !agrees<TestType>(values, x) + !agrees<TestType>(values, -x);
      checked += 2;
    }
  }
  CHECK(wrong == 0);
  CHECK(checked == int64_t(values.size() - 1) * 14);
}

TEMPLATE_TEST_CASE("Random doubles of every exponent round as the oracle says", "", Float16, Bfloat16, Float8E4m3fn,
                   Float8E5m2) {
  const std::vector<double> values = table<TestType>();
  std::mt19937_64 random(7);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const uint64_t bits = random();
    double any, near;
    std::memcpy(&any, &bits, 8);
    near = std::ldexp(double(bits >> 11), int(bits % 64) - 85);
    wrong += std::isfinite(any) && !agrees<TestType>(values, any);
    wrong += !agrees<TestType>(values, near);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("Narrow floats encode infinity, overflow and NaN as their format says", "", Float16, Bfloat16,
                   Float8E4m3fn, Float8E5m2) {
  const double infinity = std::numeric_limits<double>::infinity();
  const float largest = TestType::decode(TestType::largest);
  for (double x : {infinity, std::numeric_limits<double>::max()}) {
    const float natural = TestType::decode(TestType::encode(x)), negative = TestType::decode(TestType::encode(-x));
    if (std::is_same_v<TestType, Float8E4m3fn>) {
      CHECK(std::isnan(natural));
      CHECK(std::isnan(negative));
    } else {
      CHECK(natural == INFINITY);
      CHECK(negative == -INFINITY);
    }
    CHECK(TestType::decode(TestType::encode(x, Overflow::saturate)) == largest);
    CHECK(TestType::decode(TestType::encode(-x, Overflow::saturate)) == -largest);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double signaling = std::bit_cast<double>(0x7ff0000000000001ull);
  for (double x : {nan, -nan, signaling})
    for (Overflow overflow : {Overflow::natural, Overflow::saturate}) {
      const auto bits = TestType::encode(x, overflow);
      CHECK(TestType::isNan(bits));
      CHECK((bits & TestType::quietBit) != 0);
      CHECK(bool(bits & TestType::signBit) == std::signbit(x));
    }
}

TEST_CASE("Each narrow format has its known values") {
  CHECK(Float16::decode(Float16::largest) == 65504.0f);
  CHECK(Float16::encode(65519.99) == 0x7bff);
  CHECK(Float16::encode(65520) == 0x7c00);
  CHECK(Float16::encode(1.0) == 0x3c00);
  CHECK(Float16::decode(1) == 0x1p-24f);
  CHECK(Float16::encode(0x1p-25) == 0);
  CHECK(Float16::encode(0x1.000002p-25) == 1);
  CHECK(Float16::encode(-0.0) == 0x8000);
  CHECK(Bfloat16::encode(1.0) == 0x3f80);
  CHECK(Bfloat16::decode(1) == 0x1p-133f);
  CHECK(Float8E4m3fn::decode(Float8E4m3fn::largest) == 448.0f);
  CHECK(Float8E4m3fn::encode(464) == 0x7e);
  CHECK(Float8E4m3fn::encode(464.001) == 0x7f);
  CHECK(Float8E4m3fn::decode(1) == 0x1p-9f);
  CHECK(Float8E5m2::decode(Float8E5m2::largest) == 57344.0f);
  CHECK(Float8E5m2::encode(61440) == 0x7c);
  CHECK(Float8E5m2::encode(61439.9) == 0x7b);
}

TEST_CASE("The public scalars round once and hold every value") {
  int wrong = 0;
  for (unsigned b = 0; b < 65536; ++b) {
    float16_t half;
    half.bits = uint16_t(b);
    bfloat16_t brain;
    brain.bits = uint16_t(b);
    if (!std::isnan(float(half)))
      wrong += float16_t(float(half)).bits != b;
    if (!std::isnan(float(brain)))
      wrong += bfloat16_t(float(brain)).bits != b;
  }
  CHECK(wrong == 0);
  CHECK(float(float16_t(2049.0f)) == 2048.0f);
  CHECK(float(bfloat16_t(257.0f)) == 256.0f);
}

TEST_CASE("roundTo and largestFinite follow the dtype") {
  const struct {
    DType dtype;
    double largest, third;
  } rows[] = {{DType::float16, 65504, 0x1.554p-2},
              {DType::bfloat16, 0x1.fep127, 0x1.56p-2},
              {DType::float8_e4m3fn, 448, 0x1.6p-2},
              {DType::float8_e5m2, 57344, 0x1.4p-2},
              {DType::float32, std::numeric_limits<float>::max(), 0x1.555556p-2},
              {DType::float64, std::numeric_limits<double>::max(), 1.0 / 3}};
  for (const auto &row : rows) {
    INFO(name(row.dtype));
    CHECK(largestFinite(row.dtype) == row.largest);
    CHECK(roundTo(row.dtype, 1.0 / 3) == row.third);
    CHECK(roundTo(row.dtype, -INFINITY, Overflow::saturate) == -row.largest);
    CHECK(std::isnan(roundTo(row.dtype, NAN)));
  }
  CHECK(roundTo(DType::float32, 0x1.fffffefffffffp127) == std::numeric_limits<float>::max());
  CHECK(roundTo(DType::float32, 0x1.ffffffp127) == INFINITY);
  CHECK(roundTo(DType::float32, 1e300) == INFINITY);
  CHECK(roundTo(DType::float32, -1e300, Overflow::saturate) == -std::numeric_limits<float>::max());
  CHECK(roundTo(DType::int32, 1.5) == 1.5);
}

TEST_CASE("64-bit integers keep the bits that decide the next rounding") {
  const int64_t tie = (int64_t(1) << 62) + (int64_t(1) << 54); // the midpoint of two bfloat16 values
  CHECK(Bfloat16::decode(Bfloat16::encode(toDoubleForRounding(tie))) == 0x1p62f);
  CHECK(Bfloat16::decode(Bfloat16::encode(toDoubleForRounding(tie + 1))) == 0x1.02p62f);
  CHECK(Bfloat16::decode(Bfloat16::encode(toDoubleForRounding(-tie - 1))) == -0x1.02p62f);
  CHECK(toDoubleForRounding(std::numeric_limits<int64_t>::min()) == -0x1p63);
  CHECK(toDoubleForRounding(int64_t(-5)) == -5.0);
  CHECK(toDoubleForRounding(std::numeric_limits<uint64_t>::max()) == 0x1.fffffffffffffp63);
}
