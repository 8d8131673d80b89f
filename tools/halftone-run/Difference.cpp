// Measures differences in values of the dtype.
// SPDX-License-Identifier: Apache-2.0
#include "Difference.h"
#include "dialect/TypeInference.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace halftone::tools {
namespace {

constexpr int64_t farthest = std::numeric_limits<int64_t>::max();

/// Maps the values of the dtype, in order, to consecutive integers; -0 is one below +0.
int64_t orderOf(DType dtype, double value) {
  uint64_t bits = 0;
  if (!convert(DType::float64, &value, dtype, &bits, 1).isOk())
    return 0;
  const int width = static_cast<int>(itemsize(dtype)) * 8;
  const uint64_t sign = uint64_t(1) << (width - 1);
  return bits & sign ? -static_cast<int64_t>(bits & (sign - 1)) - 1 : static_cast<int64_t>(bits);
}

int64_t saturated(__int128 value) { return static_cast<int64_t>(std::min<__int128>(value, farthest)); }

std::string position(llvm::ArrayRef<int64_t> shape, int64_t index) {
  std::vector<int64_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    at[axis] = index % shape[axis];
  std::string text = "[";
  for (size_t axis = 0; axis < at.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(at[axis]);
  return text + "]";
}

std::string element(const dialect::TensorData &tensor, int64_t index) {
  return tensor.isFloat() ? fmt::format("{:.9g}", tensor.low[index]) : std::to_string(tensor.integers[index]);
}

std::string range(const dialect::TensorData &bounds, int64_t index) {
  if (!bounds.isFloat())
    return bounds.upper.empty() ? std::to_string(bounds.integers[index])
                                : fmt::format("{} to {}", bounds.integers[index], bounds.upper[index]);
  return fmt::format("{:.9g} to {:.9g}", bounds.low[index], bounds.high[index]);
}

double absoluteDifference(const dialect::TensorData &a, const dialect::TensorData &b, int64_t index) {
  if (!a.isFloat())
    return static_cast<double>(ulpsBetween(a, b, index));
  const double x = a.low[index], y = b.low[index];
  if (x == y || (std::isnan(x) && std::isnan(y)))
    return 0;
  const double distance = std::fabs(x - y);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

} // namespace

std::string Tolerance::str() const {
  std::string text;
  auto append = [&](const char *option, auto value) {
    if (value)
      text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, *value);
  };
  append("--rtol", rtol);
  append("--atol", atol);
  append("--ulp", ulp);
  return text.empty() ? "bit for bit" : text;
}

void Difference::join(const Difference &other) {
  elements += other.elements;
  unequal += other.unequal;
  maxAbs = std::max(maxAbs, other.maxAbs);
  maxUlp = std::max(maxUlp, other.maxUlp);
  if (firstUnequal.empty())
    firstUnequal = other.firstUnequal;
}

int64_t ulpsBetween(const dialect::TensorData &a, const dialect::TensorData &b, int64_t index) {
  if (!a.isFloat()) {
    const bool isUnsigned = dialect::isUnsignedElement(a.type.getElementType());
    auto wide = [&](int64_t v) { return isUnsigned ? __int128(uint64_t(v)) : __int128(v); };
    const __int128 x = wide(a.integers[index]), y = wide(b.integers[index]);
    return saturated(x > y ? x - y : y - x);
  }
  const double x = a.low[index], y = b.low[index];
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) == std::isnan(y) ? 0 : farthest;
  const DType dtype = *dialect::dtypeOf(a.type.getElementType());
  const __int128 distance = __int128(orderOf(dtype, x)) - orderOf(dtype, y);
  return saturated(distance < 0 ? -distance : distance);
}

Difference differenceOf(const dialect::TensorData &actual, const dialect::TensorData &expected,
                        const Tolerance &tolerance, const dialect::TensorData *bounds) {
  Difference difference;
  difference.elements = actual.size();
  for (int64_t i = 0; i < actual.size(); ++i) {
    const int64_t ulps = ulpsBetween(actual, expected, i);
    const double distance = absoluteDifference(actual, expected, i);
    difference.maxAbs = std::max(difference.maxAbs, distance);
    difference.maxUlp = std::max(difference.maxUlp, ulps);
    const double magnitude = actual.isFloat() ? std::fabs(expected.low[i]) : std::fabs(double(expected.integers[i]));
    const bool close = (tolerance.rtol || tolerance.atol) && std::isfinite(distance) && std::isfinite(magnitude) &&
                       distance <= tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * magnitude;
    if (ulps <= tolerance.ulp.value_or(0) || close || (bounds && bounds->contains(actual, i)))
      continue;
    if (difference.unequal++ == 0)
      difference.firstUnequal = fmt::format("{}: {}, expected {}", position(actual.type.getShape(), i),
                                            element(actual, i), bounds ? range(*bounds, i) : element(expected, i));
  }
  return difference;
}

} // namespace halftone::tools
