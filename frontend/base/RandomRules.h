// Validation of the arguments of random draws, and conversion of random words to numbers, shared by graphs and tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Shape.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::detail {

/// A Philox4x32-10 key: seed, number of draws.
using KeyWords = std::array<uint32_t, 2>;
/// The key of a seed or, without one, of the program's next seed (nextSeed()). value_error unless the seed fits in 32
/// bits.
KeyWords keyOfSeed(std::string_view caller, const std::optional<int64_t> &seed);
/// The offset that a draw adds to the first word of its key for each further stream of words. The streams 0, 1, 2, ...
/// of one key have no word in common.
constexpr uint32_t offsetOfStream(uint32_t stream) { return stream * 0x85EBCA6Bu; }

/// value_error for a shape with an unknown extent.
void requireExtents(std::string_view caller, const Shape &shape);
/// value_error unless `dtype` is a float.
void requireFloat(std::string_view caller, DType dtype);

/// Uniform numbers of a dtype in minval <= v < maxval, from fractions u in [0, 1) in `computed`: v = min(u * scale,
/// scale) + offset, times `factor`, clamped to [`lowest`, `highest`], then rounded to the dtype. The minimum changes no
/// value: it keeps the product from fusing with the sum, so that every target rounds alike.
struct UniformRule {
  DType computed;       // float32, or float64 for float64
  double scale, offset; // in `computed`
  double factor;        // 1; 2 if maxval - minval overflows `computed`
  bool needsMinimum;    // the product is rounded and the offset is non-zero
  bool needsLowest, needsHighest;
  double lowest, highest; // values of the dtype in the range
};
/// value_error unless minval < maxval and the dtype is a float that has a value in the range and whose finite range
/// includes both bounds.
UniformRule uniformRule(std::string_view caller, double minval, double maxval, DType dtype);

/// Integers in minval <= v < maxval: minval plus the upper part of a product of random words and `range`. The number of
/// words is chosen so that the probabilities of two values differ by less than 1 in 2^16 (one word), or by less than 1
/// in 2^32.
struct RandintRule {
  uint64_t range; // 1 to 2^64 - 1
  int words;      // 1, 2 or 3
};
/// value_error unless minval < maxval and the integer `dtype` represents minval and maxval - 1.
RandintRule randintRule(std::string_view caller, int64_t minval, int64_t maxval, DType dtype);

/// floor((first * 2^64 + second * 2^32 + third) * range / 2^96) for words in 64-bit integers; `upper` and `lower`
/// return the halves of a 64-bit integer.
template <class Word, class Upper, class Lower>
Word scaledWords(const Word &first, const Word &second, const Word &third, uint64_t range, Upper upper, Lower lower) {
  const uint64_t a = range >> 32, b = range & 0xFFFFFFFFu;
  const Word low = third * a + upper(third * b), middle = second * b + lower(low);
  const Word high = second * a + (upper(low) + upper(middle)), top = first * b + lower(high);
  return first * a + upper(high) + upper(top);
}
/// floor((first * 2^32 + second) * range / 2^64), for ranges up to 2^32.
template <class Word, class Upper>
Word scaledWords(const Word &first, const Word &second, uint64_t range, Upper upper) {
  return upper(first * range + upper(second * range));
}

} // namespace halftone::detail
