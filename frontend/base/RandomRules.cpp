// Rules for random draws: seeds, bounds, and word counts.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomRules.h"
#include "frontend/base/RandomSeeds.h"
#include "halftone/Error.h"
#include "runtime/base/Convert.h"
#include "runtime/base/Number.h"
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace halftone::detail {

KeyWords keyOfSeed(std::string_view caller, const std::optional<int64_t> &seed) {
  if (seed && (*seed < 0 || *seed > std::numeric_limits<uint32_t>::max()))
    throw Error(ErrorKind::value_error,
                fmt::format("{}: a seed must be an integer from 0 to 4294967295. Received: seed={}", caller, *seed));
  return {static_cast<uint32_t>(seed ? *seed : nextSeed()), 0};
}

void requireExtents(std::string_view caller, const Shape &shape) {
  for (const int64_t extent : shape)
    if (extent < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("{} needs a shape whose extents are known. Received: shape={}", caller, shape.str()));
}

void requireFloat(std::string_view caller, DType dtype) {
  if (!is_float(dtype))
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` requires a floating point `dtype`. Received: dtype={}", caller, name(dtype)));
}

namespace {

double rounded(DType dtype, double x) {
  std::array<std::byte, 16> element{};
  convert(DType::float64, &x, dtype, element.data(), 1).orThrow();
  return elementAsDouble(dtype, element.data(), 0);
}

/// The value of `dtype` adjacent to the one nearest to x.
double neighbour(DType dtype, double x, bool above) {
  const int width = static_cast<int>(itemsize(dtype)) * 8;
  const uint64_t sign = uint64_t{1} << (width - 1);
  uint64_t bits = 0;
  convert(DType::float64, &x, dtype, &bits, 1).orThrow();
  if ((bits & ~sign) == 0)
    bits = (above ? 0 : sign) + 1;
  else
    bits += above == ((bits & sign) == 0) ? 1 : uint64_t(-1);
  return elementAsDouble(dtype, &bits, 0);
}

/// The smallest value of `dtype` that is at least x, and the largest below x.
double atLeast(DType dtype, double x) {
  const double nearest = rounded(dtype, x);
  return nearest >= x ? nearest : neighbour(dtype, x, true);
}
double below(DType dtype, double x) {
  const double nearest = rounded(dtype, x);
  return nearest < x ? nearest : neighbour(dtype, x, false);
}

bool isPowerOfTwo(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5;
}

} // namespace

UniformRule uniformRule(std::string_view caller, double minval, double maxval, DType dtype) {
  requireFloat(caller, dtype);
  const auto refuse = [&](const std::string &expected) {
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` requires {}. Received: minval={}, maxval={}", caller, expected, minval, maxval));
  };
  if (!(minval < maxval))
    refuse("`minval` below `maxval`");
  const double largest = rounded(DType::float64, largestFinite(dtype));
  if (!(minval >= -largest && maxval <= largest))
    refuse(fmt::format("bounds that {} can represent", name(dtype)));
  UniformRule rule{.computed = dtype == DType::float64 ? DType::float64 : DType::float32,
                   .scale = 0,
                   .offset = 0,
                   .factor = 1,
                   .needsMinimum = false,
                   .needsLowest = false,
                   .needsHighest = false,
                   .lowest = atLeast(dtype, minval),
                   .highest = below(dtype, maxval)};
  if (!(rule.lowest <= rule.highest))
    refuse(fmt::format("a range that contains a value of {}", name(dtype)));
  if (!std::isfinite(rounded(rule.computed, maxval - minval)))
    rule.factor = 2;
  rule.scale = rounded(rule.computed, maxval / rule.factor - minval / rule.factor);
  rule.offset = rounded(rule.computed, minval / rule.factor);
  rule.needsMinimum = rule.offset != 0 && !isPowerOfTwo(rule.scale);
  const double first = rule.offset * rule.factor; // v increases with u
  const double fraction = rule.computed == DType::float64 ? 1 - 0x1p-53 : 1 - 0x1p-24;
  const double last = rounded(rule.computed, rounded(rule.computed, fraction * rule.scale) + rule.offset) * rule.factor;
  rule.needsLowest = !(first >= minval && rounded(dtype, first) >= minval);
  rule.needsHighest = !(last < maxval && rounded(dtype, last) < maxval);
  return rule;
}

RandintRule randintRule(std::string_view caller, int64_t minval, int64_t maxval, DType dtype) {
  if (!isStorable(dtype) || is_float(dtype) || dtype == DType::bool_)
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` requires an integer `dtype`. Received: dtype={}", caller, name(dtype)));
  if (minval >= maxval)
    throw Error(
        ErrorKind::value_error,
        fmt::format("`{}` requires `minval` below `maxval`. Received: minval={}, maxval={}", caller, minval, maxval));
  for (const int64_t bound : {minval, maxval - 1})
    if (positionIn(dtype, bound) != RangePosition::inside)
      throw Error(ErrorKind::value_error,
                  fmt::format("`{}` requires bounds that {} can represent. Received: minval={}, "
                              "maxval={}",
                              caller, name(dtype), minval, maxval));
  const uint64_t range = static_cast<uint64_t>(maxval) - static_cast<uint64_t>(minval);
  const bool isShort = range <= (uint64_t{1} << 16) || (std::has_single_bit(range) && range <= uint64_t{1} << 32);
  return {range, isShort ? 1 : range <= uint64_t{1} << 32 ? 2 : 3};
}

} // namespace halftone::detail
