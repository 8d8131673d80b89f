// Quantizes weights as keras.quantizers does, rounding every operation to the weights' dtype.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/QuantizedWeights.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>

namespace halftone::detail {

namespace {

constexpr double epsilon = 1e-7;

/// Arithmetic rounded to `dtype`. Rounding a double sum, product or quotient to a float of at most 32 bits gives the
/// result of the float operation.
class Rounded {
public:
  explicit Rounded(DType dtype) : dtype_(dtype), epsilon_(one(epsilon)) {}
  void all(std::vector<double> &numbers) const {
    if (dtype_ == DType::float64)
      return;
    std::vector<std::byte> narrow(numbers.size() * static_cast<size_t>(itemsize(dtype_)));
    const auto count = static_cast<int64_t>(numbers.size());
    convert(DType::float64, numbers.data(), dtype_, narrow.data(), count).orThrow();
    convert(dtype_, narrow.data(), DType::float64, numbers.data(), count).orThrow();
  }
  double one(double number) const {
    std::vector<double> list{number};
    all(list);
    return list[0];
  }
  double withEpsilon(double number) const { return number + epsilon_; }

private:
  DType dtype_;
  double epsilon_ = 0.0;
};

/// The dtype of operations from the addition of epsilon on: NumPy promotes bfloat16 and a Python number to float32.
DType dtypeWithEpsilon(DType weights) { return weights == DType::bfloat16 ? DType::float32 : weights; }

std::vector<double> elementsOf(const Tensor &weights) {
  const Tensor host = TensorAccess::onHost(weights);
  std::vector<double> elements(static_cast<size_t>(host.size()));
  convert(host.dtype(), TensorAccess::data(host), DType::float64, elements.data(), host.size()).orThrow();
  return elements;
}

Tensor tensorOf(const std::vector<double> &numbers, DType dtype, const Shape &shape) {
  Tensor tensor = TensorAccess::allocate(dtype, shape);
  convert(DType::float64, numbers.data(), dtype, TensorAccess::mutableData(tensor), tensor.size()).orThrow();
  return tensor;
}

/// The integer nearest to `number`, ties to even, plus `zero`, clamped to the bounds; 0 for NaN, as in NumPy's cast.
double bounded(double number, double zero, double least, double most) {
  const double value = std::nearbyint(number) + zero;
  return std::isnan(value) ? 0.0 : std::clamp(value, least, most);
}

std::vector<int64_t> offsetsOf(const Shape &shape, const std::vector<int64_t> &axes) {
  std::vector<int64_t> offsets{0};
  for (const int64_t axis : axes) {
    int64_t stride = 1;
    for (int64_t inner = axis + 1; inner < shape.rank(); ++inner)
      stride = extentProduct(stride, shape[inner]);
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * static_cast<size_t>(shape[axis]));
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < shape[axis]; ++i)
        longer.push_back(offset + i * stride);
    offsets = std::move(longer);
  }
  return offsets;
}

} // namespace

MatrixView MatrixView::of(const Shape &shape, const std::vector<int64_t> &rowAxes,
                          const std::vector<int64_t> &columnAxes) {
  return {.rows = offsetsOf(shape, rowAxes), .columns = offsetsOf(shape, columnAxes)};
}

QuantizedWeights absMaxQuantized(const Tensor &weights, const MatrixView &view, int64_t least, int64_t most) {
  const Rounded rounded(dtypeWithEpsilon(weights.dtype()));
  std::vector<double> elements = elementsOf(weights), scales(view.columns.size(), 0.0);
  for (const int64_t row : view.rows)
    for (size_t c = 0; c < scales.size(); ++c) {
      const double magnitude = std::abs(elements[static_cast<size_t>(row + view.columns[c])]);
      scales[c] = std::isnan(scales[c]) || magnitude <= scales[c] ? scales[c] : magnitude; // propagates NaN
    }
  std::ranges::transform(scales, scales.begin(), [&](double largest) { return rounded.withEpsilon(largest); });
  rounded.all(scales);
  std::ranges::transform(scales, scales.begin(), [&](double divisor) { return static_cast<double>(most) / divisor; });
  rounded.all(scales);
  for (const int64_t row : view.rows)
    for (size_t c = 0; c < scales.size(); ++c)
      elements[static_cast<size_t>(row + view.columns[c])] *= scales[c];
  rounded.all(elements);
  for (double &element : elements)
    element = bounded(element, 0.0, static_cast<double>(least), static_cast<double>(most));
  return {tensorOf(elements, DType::int8, weights.shape()),
          tensorOf(scales, weights.dtype(), {static_cast<int64_t>(scales.size())})};
}

QuantizedWeights groupQuantized(const Tensor &weights, const MatrixView &view, int64_t block) {
  const Rounded rounded(dtypeWithEpsilon(weights.dtype()));
  constexpr double least = -8.0, most = 7.0;
  const size_t columns = view.columns.size(), size = static_cast<size_t>(block);
  const size_t groups = (view.rows.size() + size - 1) / size;
  const auto indexOf = [&](size_t group, size_t c) {
    return view.hasGroupsLast ? c * groups + group : group * columns + c;
  };
  std::vector<double> elements = elementsOf(weights), low(groups * columns), high(low), scale(low.size());
  for (size_t group = 0; group < groups; ++group) {
    const size_t first = group * size, last = std::min(view.rows.size(), first + size);
    const bool isShort = last - first < size; // padded with zeros
    for (size_t c = 0; c < columns; ++c) {
      double &lowest = low[indexOf(group, c)], &highest = high[indexOf(group, c)];
      lowest = highest = isShort ? 0.0 : elements[static_cast<size_t>(view.rows[first] + view.columns[c])];
      for (size_t r = first; r < last; ++r) {
        const double element = elements[static_cast<size_t>(view.rows[r] + view.columns[c])];
        lowest = std::isnan(element) ? element : std::min(lowest, element);
        highest = std::isnan(element) ? element : std::max(highest, element);
      }
    }
  }
  std::ranges::transform(high, low, scale.begin(), [](double highest, double lowest) { return highest - lowest; });
  Rounded(weights.dtype()).all(scale);
  std::ranges::transform(scale, scale.begin(), [&](double range) { return rounded.withEpsilon(range); });
  rounded.all(scale);
  std::ranges::transform(scale, scale.begin(), [&](double range) { return range / (most - least); });
  rounded.all(scale);
  std::vector<double> zero(low.size());
  std::ranges::transform(low, scale, zero.begin(), [](double lowest, double step) { return -lowest / step; });
  rounded.all(zero);
  for (double &point : zero)
    point = bounded(point, least, least, most);
  const auto forEach = [&](auto change) {
    for (size_t r = 0; r < view.rows.size(); ++r)
      for (size_t c = 0; c < columns; ++c)
        change(elements[static_cast<size_t>(view.rows[r] + view.columns[c])], indexOf(r / size, c));
  };
  forEach([&](double &element, size_t group) { element /= scale[group]; });
  rounded.all(elements);
  forEach([&](double &element, size_t group) { element = bounded(element, zero[group], least, most); });
  std::vector<int64_t> dims{static_cast<int64_t>(groups), static_cast<int64_t>(columns)};
  if (view.hasGroupsLast)
    std::swap(dims[0], dims[1]);
  const Shape shape(dims);
  return {tensorOf(elements, DType::int8, weights.shape()), tensorOf(scale, weights.dtype(), shape),
          tensorOf(zero, DType::int8, shape)};
}

Tensor dequantized(const QuantizedWeights &weights, const MatrixView &view, int64_t block) {
  const Rounded rounded(weights.scale.dtype());
  const std::vector<double> scales = elementsOf(weights.scale);
  const std::vector<double> zeros = weights.zero.defined() ? elementsOf(weights.zero) : std::vector<double>();
  const size_t columns = view.columns.size(), groups = zeros.empty() ? 1 : scales.size() / std::max<size_t>(columns, 1);
  std::vector<double> elements = elementsOf(weights.values);
  for (size_t r = 0; r < view.rows.size(); ++r)
    for (size_t c = 0; c < columns; ++c) {
      double &element = elements[static_cast<size_t>(view.rows[r] + view.columns[c])];
      if (zeros.empty()) {
        element /= scales[c];
        continue;
      }
      const size_t group = r / static_cast<size_t>(block);
      const size_t offset = view.hasGroupsLast ? c * groups + group : group * columns + c;
      element = (element - zeros[offset]) * scales[offset];
    }
  rounded.all(elements);
  return tensorOf(elements, weights.scale.dtype(), weights.values.shape());
}

Tensor groupNumbers(int64_t rows, int64_t block) {
  std::vector<float> numbers(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t group = row / block;
    numbers[static_cast<size_t>(row)] = static_cast<float>(group);
  }
  return {std::move(numbers), {rows}};
}

Tensor packedInt4(const Tensor &values) {
  const int64_t rows = values.shape()[0], columns = values.shape()[1], bytes = (columns + 1) / 2;
  const std::vector<int8_t> given = values.to_vector<int8_t>();
  std::vector<int8_t> packed(static_cast<size_t>(rows * bytes), 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const auto half = static_cast<unsigned>(given[static_cast<size_t>(r * columns + c)]) & 15U;
      auto &byte = packed[static_cast<size_t>(r * bytes + c / 2)];
      byte = static_cast<int8_t>(static_cast<unsigned char>(byte) | (c % 2 ? half << 4U : half));
    }
  return {std::move(packed), {rows, bytes}};
}

Tensor unpackedInt4(const Tensor &bytes, int64_t columns) {
  const int64_t rows = bytes.shape()[0], width = bytes.shape()[1];
  const std::vector<int8_t> packed = bytes.to_vector<int8_t>();
  std::vector<int8_t> values(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const auto byte = static_cast<unsigned char>(packed[static_cast<size_t>(r * width + c / 2)]);
      const unsigned half = (c % 2 ? byte >> 4U : byte) & 15U;
      values[static_cast<size_t>(r * columns + c)] = static_cast<int8_t>(half < 8 ? half : half - 16);
    }
  return {std::move(values), {rows, columns}};
}

Tensor transposedInt8(const Tensor &matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  const std::vector<int8_t> given = matrix.to_vector<int8_t>();
  std::vector<int8_t> transposed(given.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      transposed[static_cast<size_t>(c * rows + r)] = given[static_cast<size_t>(r * columns + c)];
  return {std::move(transposed), {columns, rows}};
}

} // namespace halftone::detail
