// How far two tensors are apart, element by element.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include <cstdint>
#include <optional>
#include <string>

namespace halftone::tools {

/// Elements that count as equal besides those of equal bits (any NaN equals any NaN): |a - e| <= atol + rtol * |e|, or
/// at most `ulp` values of the dtype between them. (Infinities and NaN equal only themselves, under any rtol and atol.)
struct Tolerance {
  std::optional<double> rtol, atol;
  std::optional<int64_t> ulp;
  bool given() const { return rtol || atol || ulp; }
  std::string str() const; // "--ulp 2 --atol 0.001", "bit for bit" when nothing was given
};

struct Difference {
  int64_t elements = 0, unequal = 0; // unequal: beyond the tolerance
  double maxAbs = 0;                 // infinity when a NaN or an infinity stands against something else
  int64_t maxUlp = 0;                // the largest int64 likewise
  std::string firstUnequal;          // "[2, 3]: 1.5, expected 1.25", "" when all are equal
  bool agrees() const { return unequal == 0; }
  /// Joins two differences: the larger of each maximum, and the sum of each count.
  void join(const Difference &other);
};

/// How many values of the dtype lie between two elements: 0 for equal bits, 1 for neighbours and for +0 and -0. Any two
/// NaNs have 0, a NaN and any other element have the largest int64.
int64_t ulpsBetween(const dialect::TensorData &a, const dialect::TensorData &b, int64_t index);

/// `actual` and `expected` have one type and no intervals. With `bounds`, of that type too, an element inside is equal
/// as well.
Difference differenceOf(const dialect::TensorData &actual, const dialect::TensorData &expected,
                        const Tolerance &tolerance, const dialect::TensorData *bounds = nullptr);

} // namespace halftone::tools
