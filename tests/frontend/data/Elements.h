// Datasets of numbers, and their elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"
#include "halftone/Error.h"
#include <numeric>
#include <vector>

namespace halftone::test {

/// All elements of x, in order.
inline std::vector<float> numbersOf(const Dataset &data) {
  std::vector<float> numbers;
  for (const Batch &batch : data)
    for (const float number : batch.x[0].astype(float32).to_vector<float>())
      numbers.push_back(number);
  return numbers;
}
inline Tensor countedTo(int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return Tensor(std::move(numbers));
}
/// The scalars 0, 1, 2, ...
inline Dataset countedElements(int64_t count) { return Dataset(countedTo(count)); }
/// The same elements from a generator that does not report their number.
inline Dataset generated(int64_t count) {
  return Dataset::from_generator([count] {
    return [count, i = int64_t{0}]() mutable -> std::optional<Batch> {
      return i == count ? std::nullopt : std::optional(Batch{.x = Tensor::full({}, double(i++))});
    };
  });
}
inline std::vector<float> numbersFrom(int64_t first, int64_t end) {
  std::vector<float> numbers(static_cast<size_t>(end - first));
  std::iota(numbers.begin(), numbers.end(), static_cast<float>(first));
  return numbers;
}

} // namespace halftone::test
