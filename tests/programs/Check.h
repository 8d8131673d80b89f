// Checks of user programs on their own results: a line for each wrong result, and the exit status.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdio>
#include <halftone/Halftone.h>

inline int wrong = 0; // the exit status of main()
inline void check(bool holds, const char *what) {
  if (!holds)
    std::printf("%d is wrong: %s\n", ++wrong, what);
}
/// Returns true if the elements, of any dtype, equal `expected` within a few float32 roundings.
inline bool near(const halftone::Tensor &found, const std::vector<double> &expected) {
  const std::vector<double> elements = found.astype(halftone::float64).to_vector<double>();
  if (elements.size() != expected.size())
    return false;
  for (size_t i = 0; i < elements.size(); ++i)
    if (!(std::abs(elements[i] - expected[i]) <= 1e-5 * std::max(1.0, std::abs(expected[i]))))
      return false;
  return true;
}
