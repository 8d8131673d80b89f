// Exact conversions between narrow floats (float16, bfloat16, float8_e4m3fn, float8_e5m2), float and double.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include <bit>
#include <cstdint>

namespace halftone {

/// The result of an encoder for infinity, and for a finite value that rounds past the largest finite one:
///   natural   infinity; float8_e4m3fn has none and gives NaN (OCP's non-saturating mode)
///   saturate  the largest finite value of the same sign
/// NaN stays a quiet NaN of the same sign in both.
enum class Overflow : uint8_t { natural, saturate };

/// A format: a sign bit, exponent bits, mantissa bits. `infinite` formats keep their topmost exponent for infinity and
/// NaN; the other formats have one NaN (all ones) and use the rest of that exponent for finite values.
template <class StorageT, int exponentBitCount, int mantissaBitCount, bool infinite> struct NarrowFloat {
  using Storage = StorageT;
  static constexpr int exponentBits = exponentBitCount, mantissaBits = mantissaBitCount;
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr Storage signBit = Storage(1u << (exponentBits + mantissaBits));
  static constexpr Storage topExponent = Storage(((1u << exponentBits) - 1) << mantissaBits);
  static constexpr Storage mantissaMask = Storage((1u << mantissaBits) - 1);
  static constexpr Storage quietBit = Storage(1u << (mantissaBits - 1));
  static constexpr Storage largest = Storage(infinite ? topExponent - 1 : topExponent + mantissaMask - 1);

  static constexpr bool isNan(Storage bits) {
    unsigned magnitude = bits & ~unsigned(signBit);
    return infinite ? magnitude > topExponent : magnitude > largest;
  }

  /// Encodes the nearest value, ties to even, with a single rounding. Subnormals are kept.
  static constexpr Storage encode(double value, Overflow overflow = Overflow::natural) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const Storage sign = bits >> 63 ? signBit : Storage(0);
    const int exponent = int(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
    if (exponent == 0x7ff && mantissa != 0)
      return sign | (infinite ? topExponent | quietBit | Storage(mantissa >> (52 - mantissaBits))
                              : Storage(topExponent | mantissaMask));
    uint64_t rounded = uint64_t(largest) + 1;
    if (exponent != 0x7ff) {
      if (exponent != 0)
        mantissa |= uint64_t(1) << 52;
      // Work in units in the last place of the result, which do not shrink below its smallest normal exponent.
      const int unbiased = (exponent ? exponent : 1) - 1023, smallest = 1 - bias;
      int shift = 52 - mantissaBits + (unbiased < smallest ? smallest - unbiased : 0);
      if (shift > 62)
        shift = 62;
      const uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
      rounded = mantissa >> shift;
      rounded += rest > half || (rest == half && (rounded & 1));
      if (unbiased > smallest) // a carry out of the mantissa increments the exponent
        rounded += uint64_t(unbiased - smallest) << mantissaBits;
    }
    if (rounded > largest)
      rounded = overflow == Overflow::saturate ? uint64_t(largest) : uint64_t(largest) + 1;
    return sign | Storage(rounded);
  }

  /// Exact. A NaN becomes quiet.
  static constexpr float decode(Storage bits) {
    const uint32_t sign = bits & signBit ? 0x80000000u : 0u;
    const int exponent = int((bits & topExponent) >> mantissaBits);
    uint32_t mantissa = bits & mantissaMask;
    if (isNan(bits))
      return std::bit_cast<float>(sign | 0x7fc00000u | mantissa << (23 - mantissaBits));
    if (infinite && exponent == (1 << exponentBits) - 1)
      return std::bit_cast<float>(sign | 0x7f800000u);
    if constexpr (exponentBits == 8) // the exponent format is that of float, including subnormals
      return std::bit_cast<float>(uint32_t(bits) << (32 - 1 - exponentBits - mantissaBits));
    if (exponent == 0) {
      if (mantissa == 0)
        return std::bit_cast<float>(sign);
      const int lead = std::bit_width(mantissa) - 1;
      mantissa = (mantissa << (23 - lead)) & 0x7fffffu;
      return std::bit_cast<float>(sign | uint32_t(127 + 1 - bias - mantissaBits + lead) << 23 | mantissa);
    }
    return std::bit_cast<float>(sign | uint32_t(127 - bias + exponent) << 23 | mantissa << (23 - mantissaBits));
  }
};

using Float16 = NarrowFloat<uint16_t, 5, 10, true>;
using Bfloat16 = NarrowFloat<uint16_t, 8, 7, true>;
using Float8E4m3fn = NarrowFloat<uint8_t, 4, 3, false>;
using Float8E5m2 = NarrowFloat<uint8_t, 5, 2, true>;

/// `value` rounded once to the nearest value of a float `dtype`; unchanged for float64 and any other dtype.
double roundTo(DType dtype, double value, Overflow overflow = Overflow::natural);

/// The largest finite value of a float `dtype`; 0 for any other dtype.
double largestFinite(DType dtype);

/// `value` as a double, rounded to odd: rounding the double to any narrow float or to float32 gives the same result as
/// rounding `value` itself.
double toDoubleForRounding(int64_t value);
double toDoubleForRounding(uint64_t value);

} // namespace halftone
