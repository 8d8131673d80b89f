// Saturating sums and products of extents.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace halftone {

/// Operands are non-negative integers and their differences. The result saturates at the bounds of int64_t, so a shape
/// with such an extent is refused as too large instead of silently wrapping to another shape.
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
/// The product of all elements of a range.
template <class Range> constexpr int64_t extentProduct(const Range &numbers) {
  int64_t product = 1;
  for (int64_t number : numbers)
    product = extentProduct(product, number);
  return product;
}

} // namespace halftone
