// Narrow floats by dtype, and the public scalar types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Half.h"
#include <cmath>
#include <limits>

using namespace halftone;

float16_t::float16_t(float v) : bits(Float16::encode(v)) {}
float16_t::operator float() const { return Float16::decode(bits); }
bfloat16_t::bfloat16_t(float v) : bits(Bfloat16::encode(v)) {}
bfloat16_t::operator float() const { return Bfloat16::decode(bits); }

static double roundToFloat32(double value, Overflow overflow) {
  // A double outside float's range has no defined cast; the rounding boundary is half a unit past the largest float.
  constexpr double largest = std::numeric_limits<float>::max(), boundary = 0x1.ffffffp127;
  if (std::fabs(value) >= boundary || (overflow == Overflow::saturate && std::fabs(value) > largest))
    return std::copysign(overflow == Overflow::saturate ? largest : std::numeric_limits<double>::infinity(), value);
  if (std::fabs(value) > largest)
    return std::copysign(largest, value);
  return static_cast<float>(value);
}

double halftone::roundTo(DType dtype, double value, Overflow overflow) {
  switch (dtype) {
  case DType::float16:
    return Float16::decode(Float16::encode(value, overflow));
  case DType::bfloat16:
    return Bfloat16::decode(Bfloat16::encode(value, overflow));
  case DType::float8_e4m3fn:
    return Float8E4m3fn::decode(Float8E4m3fn::encode(value, overflow));
  case DType::float8_e5m2:
    return Float8E5m2::decode(Float8E5m2::encode(value, overflow));
  case DType::float32:
    return roundToFloat32(value, overflow);
  case DType::float64:
    return overflow == Overflow::saturate && std::isinf(value) ? std::copysign(largestFinite(dtype), value) : value;
  default:
    return value;
  }
}

double halftone::largestFinite(DType dtype) {
  switch (dtype) {
  case DType::float16:
    return Float16::decode(Float16::largest);
  case DType::bfloat16:
    return Bfloat16::decode(Bfloat16::largest);
  case DType::float8_e4m3fn:
    return Float8E4m3fn::decode(Float8E4m3fn::largest);
  case DType::float8_e5m2:
    return Float8E5m2::decode(Float8E5m2::largest);
  case DType::float32:
    return std::numeric_limits<float>::max();
  case DType::float64:
    return std::numeric_limits<double>::max();
  default:
    return 0;
  }
}

double halftone::toDoubleForRounding(uint64_t value) {
  const int excess = static_cast<int>(std::bit_width(value)) - 53;
  if (excess <= 0)
    return static_cast<double>(value);
  const uint64_t lost = value & ((uint64_t(1) << excess) - 1), kept = value >> excess;
  return std::ldexp(static_cast<double>(kept | (lost != 0)), excess);
}

double halftone::toDoubleForRounding(int64_t value) {
  return value < 0 ? -toDoubleForRounding(uint64_t(0) - static_cast<uint64_t>(value))
                   : toDoubleForRounding(static_cast<uint64_t>(value));
}
