// to_categorical: integers to one-hot rows.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone {

/// The elements as integers. value_error for an element that is not an integer.
static std::vector<int64_t> labelsOf(const Tensor &x) {
  if (!is_float(x.dtype()))
    return x.astype(DType::int64).to_vector<int64_t>();
  const std::vector<double> values = x.astype(DType::float64).to_vector<double>();
  for (const double value : values)
    if (std::trunc(value) != value || std::abs(value) > 0x1p53)
      throw Error(ErrorKind::value_error, fmt::format("to_categorical: labels must be integers, got {}", value));
  return {values.begin(), values.end()};
}

Tensor utils::to_categorical(const Tensor &x, std::optional<int64_t> num_classes) {
  std::vector<int64_t> dims = x.shape().dims();
  if (dims.size() > 1 && dims.back() == 1)
    dims.pop_back();
  const std::vector<int64_t> labels = labelsOf(x);
  int64_t classes = num_classes.value_or(0);
  if (classes < 0)
    throw Error(ErrorKind::value_error, fmt::format("num_classes must be positive, got {}", classes));
  if (classes == 0) {
    if (labels.empty())
      throw Error(ErrorKind::value_error, "to_categorical: without labels, num_classes must be given");
    classes = extentSum(std::ranges::max(labels), 1); // negative labels are rejected below
  }
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= classes)
      throw Error(ErrorKind::value_error,
                  fmt::format("to_categorical: the label {} at index {} is out of range for {} classes", labels[i], i,
                              classes));
  dims.push_back(classes);
  Tensor result = Tensor::zeros(Shape(dims));
  auto *ones = reinterpret_cast<float *>(TensorAccess::mutableData(result));
  for (size_t i = 0; i < labels.size(); ++i)
    ones[static_cast<int64_t>(i) * classes + labels[i]] = 1.0f;
  return result;
}

} // namespace halftone
