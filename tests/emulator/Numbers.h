// Number formats of the device that C++ lacks: f16, bf16, tf32, roundings, and results of approximate instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace halftone::emulator {

struct Half {
  uint16_t bits = 0;
};
struct BFloat {
  uint16_t bits = 0;
};
struct TFloat {
  uint32_t bits = 0;
};

/// To nearest (ties to even, or away from zero), toward zero, down, up.
enum class Rounding : uint8_t { Nearest, NearestAway, Zero, Down, Up };

struct FloatFormat {
  int fractionBits;
  int exponentBits;
};
constexpr FloatFormat halfFormat{10, 5}, bfloatFormat{7, 8}, tfloatFormat{10, 8}, floatFormat{23, 8},
    doubleFormat{52, 11};

/// The bits of `value`, rounded once, in the low bits of the result. NaN gives the format's positive NaN with all
/// fraction bits set.
uint64_t roundTo(FloatFormat format, long double value, Rounding rounding);

/// x + y in f64, rounded to odd: a later rounding to at most 51 bits then equals a single rounding of the exact sum.
double addToOdd(double x, double y);

/// The result of an approximate instruction: `exact` with a relative error of at most `bound`. The seed determines the
/// error, which is always the same for the same `key`; with seed 0 there is none.
float approximate(double exact, double bound, uint64_t seed, uint64_t key);

inline float toFloat(Half value) {
  // As an f32 with the same exponent field; the exponent biases then differ by 112, also for subnormal numbers.
  const uint32_t sign = uint32_t(value.bits & 0x8000) << 16, size = uint32_t(value.bits & 0x7fff) << 13;
  const bool isFinite = (value.bits & 0x7c00) != 0x7c00;
  const float magnitude = isFinite ? std::bit_cast<float>(size) * 0x1p112f : std::bit_cast<float>(size | 0x7f800000);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}
inline float toFloat(BFloat value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }
inline float toFloat(TFloat value) { return std::bit_cast<float>(value.bits & 0xffffe000); }
inline float toFloat(float value) { return value; }
inline double toFloat(double value) { return value; }

/// NaN as the device writes it.
constexpr float deviceNan = std::bit_cast<float>(0x7fffffffu);
inline float canonical(float value) { return value != value ? deviceNan : value; }
inline double canonical(double value) { return value != value ? std::bit_cast<double>(0x7fffffffffffffffull) : value; }
inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
inline double flushed(double value) { return value; }

} // namespace halftone::emulator
