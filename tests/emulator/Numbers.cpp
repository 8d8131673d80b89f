// Number formats of the device that C++ lacks.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/Random.h"
#include <algorithm>

namespace halftone::emulator {

namespace {

bool roundsAway(Rounding rounding, bool negative, long double whole, long double rest) {
  switch (rounding) {
  case Rounding::Nearest:
    return rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) == 1.0L);
  case Rounding::NearestAway:
    return rest >= 0.5L;
  case Rounding::Down:
    return negative && rest > 0;
  case Rounding::Up:
    return !negative && rest > 0;
  default:
    return false;
  }
}

} // namespace

uint64_t roundTo(FloatFormat format, long double value, Rounding rounding) {
  uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (format.fractionBits + format.exponentBits) : 0;
  if (std::isnan(value))
    return infinity | ((uint64_t(1) << format.fractionBits) - 1);
  long double size = std::fabs(value);
  if (size == 0)
    return sign;
  if (std::isinf(size))
    return sign | infinity;
  int lowest = 2 - (1 << (format.exponentBits - 1)); // exponent of the smallest normal number
  int exponent = std::max(std::ilogb(size), lowest);
  long double scaled = std::ldexp(size, format.fractionBits - exponent);
  long double whole = std::floor(scaled);
  if (roundsAway(rounding, sign != 0, whole, scaled - whole))
    whole += 1;
  uint64_t bits = static_cast<uint64_t>(whole);
  if (exponent - lowest < (1 << format.exponentBits))
    bits += uint64_t(exponent - lowest) << format.fractionBits;
  if (exponent - lowest >= (1 << format.exponentBits) || bits >= infinity) {
    bool toInfinity = rounding <= Rounding::NearestAway || rounding == (sign ? Rounding::Down : Rounding::Up);
    bits = toInfinity ? infinity : infinity - 1;
  }
  return sign | bits;
}

double addToOdd(double x, double y) {
  double sum = x + y;
  if (!std::isfinite(sum))
    return sum;
  double part = sum - x;
  double error = (x - (sum - part)) + (y - part);
  if (error == 0 || std::bit_cast<uint64_t>(sum) & 1)
    return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

float approximate(double exact, double bound, uint64_t seed, uint64_t key) {
  if (seed == 0 || !std::isfinite(exact))
    return static_cast<float>(exact);
  double rounding = 0x1p-24; // the rounding of the result to f32
  double unit = static_cast<double>(static_cast<int64_t>(mixed(seed ^ mixed(key)))) * 0x1p-63;
  return static_cast<float>(exact * (1 + unit * std::max(0.0, bound - rounding)));
}

} // namespace halftone::emulator
