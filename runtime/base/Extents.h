// Sums and products of extents, which never wrap.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace halftone {

/// Numbers from 0 on, and differences of them. A result beyond the range of int64_t is its nearest bound, so that a shape made of
/// it is refused as too large, and no other shape comes out.
constexpr int64_t extentSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
constexpr int64_t extentProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
/// The product of all numbers of a range.
template <class Range> constexpr int64_t extentProduct(const Range &numbers) {
  int64_t product = 1;
  for (int64_t number : numbers)
    product = extentProduct(product, number);
  return product;
}

} // namespace halftone
