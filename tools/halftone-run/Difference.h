// Measures the difference between two tensors, element by element.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include <cstdint>
#include <optional>
#include <string>

namespace halftone::tools {

/// Elements are equal if their bits are (any NaN equals any NaN). They also count as equal if |a - e| <= atol + rtol *
/// |e|, or if they are at most `ulp` values of the dtype apart. (Infinities and NaN equal only themselves, under any
/// rtol and atol.)
struct Tolerance {
  std::optional<double> rtol, atol;
  std::optional<int64_t> ulp;
  bool given() const { return rtol || atol || ulp; }
  std::string str() const; // e.g. "--ulp 2 --atol 0.001"; "bit for bit" without a tolerance
};

struct Difference {
  int64_t elements = 0, unequal = 0; // unequal: beyond the tolerance
  double maxAbs = 0;                 // infinity if a NaN or an infinity meets another element
  int64_t maxUlp = 0;                // the largest int64 in that case
  std::string firstUnequal;          // "[2, 3]: 1.5, expected 1.25"; "" if all are equal
  bool agrees() const { return unequal == 0; }
  /// Merges two differences: the maximum of each maximum, and the sum of each count.
  void join(const Difference &other);
};

/// The distance of two elements in values of the dtype: 0 for equal bits, 1 for neighbours and for +0 and -0, 0 for two
/// NaNs, the largest int64 for a NaN and any other element.
int64_t ulpsBetween(const dialect::TensorData &a, const dialect::TensorData &b, int64_t index);

/// `actual` and `expected` must have the same type and no intervals. If `bounds`, of that type, is given, an element
/// within its interval also counts as equal.
Difference differenceOf(const dialect::TensorData &actual, const dialect::TensorData &expected,
                        const Tolerance &tolerance, const dialect::TensorData *bounds = nullptr);

} // namespace halftone::tools
