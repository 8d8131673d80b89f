// What the arguments of draws must be, and how random words become numbers: the rules that graphs and tensors share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Shape.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::detail {

/// A key of Philox4x32-10: seed, count of draws.
using KeyWords = std::array<uint32_t, 2>;
/// The key of a seed, or of the next one of the program (nextSeed()) without it. value_error unless 32 bits hold the seed.
KeyWords keyOfSeed(std::string_view who, const std::optional<int64_t> &seed);
/// What a draw adds to its key's first word for its further words: streams 0, 1, 2, ... of one key share no word.
constexpr uint32_t offsetOfStream(uint32_t stream) { return stream * 0x85EBCA6Bu; }

/// value_error for a shape with an extent of None.
void requireExtents(std::string_view who, const Shape &shape);
/// value_error unless `dtype` is a float.
void requireFloat(std::string_view who, DType dtype);

/// Uniform numbers of a dtype in minval <= v < maxval, from fractions u in [0, 1) in `computed`:
/// v = min(u * scale, scale) + offset, times `factor`, then no less than `lowest`, no more than `highest`, then rounded to the
/// dtype. The minimum changes no value: it keeps the product from fusing with the sum, so that every target rounds alike.
struct UniformRule {
  DType computed;       // float32, or float64 for float64
  double scale, offset; // in `computed`
  double factor;        // 1; 2 if maxval - minval is beyond `computed`
  bool needsMinimum;    // the product is rounded, and something is added
  bool needsLowest, needsHighest;
  double lowest, highest; // of the dtype's numbers in the range
};
/// value_error unless the dtype is a float that has a number in the range and holds both bounds.
UniformRule uniformRule(std::string_view who, double minval, double maxval, DType dtype);

/// Integers in minval <= v < maxval: minval plus the upper part of a product of random words and `range`. With so many words
/// the probabilities of two values differ by less than 1 in 2^16 (one word), else by less than 1 in 2^32.
struct RandintRule {
  uint64_t range; // 1 to 2^64 - 1
  int words;      // 1, 2 or 3
};
/// value_error unless minval < maxval and the integer `dtype` holds minval and maxval - 1.
RandintRule randintRule(std::string_view who, int64_t minval, int64_t maxval, DType dtype);

/// floor((first * 2^64 + second * 2^32 + third) * range / 2^96) of words in 64 bits; `upper` and `lower` give the halves of a
/// 64-bit integer.
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
