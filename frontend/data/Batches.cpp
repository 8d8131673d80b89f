// Gathers and shuffles rows of arrays.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "frontend/base/NameList.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <cstring>
#include <fmt/format.h>

namespace halftone::detail {

int64_t checkRows(const Batch &arrays) {
  std::optional<int64_t> rows;
  auto check = [&](const Tensors &tensors, const char *what) {
    for (const Tensor &tensor : tensors) {
      if (!tensor.defined())
        throw Error(ErrorKind::value_error, fmt::format("{} has an undefined Tensor", what));
      if (tensor.shape().rank() < 1)
        throw Error(ErrorKind::value_error, fmt::format("{} needs a leading sample axis, got a scalar", what));
      int64_t count = tensor.shape()[0];
      if (rows && *rows != count)
        throw Error(ErrorKind::value_error, fmt::format("Data cardinality is ambiguous. Make sure all arrays contain "
                                                        "the same number of samples. '{}' has {}, x has {}",
                                                        what, count, *rows));
      rows = count;
    }
  };
  check(arrays.x, "x");
  check(arrays.y, "y");
  check(arrays.sample_weight, "sample_weight");
  if (!rows)
    throw Error(ErrorKind::value_error, "no data was given: x is empty");
  return *rows;
}

void requirePositive(const char *argument, int64_t count) {
  if (count < 1)
    throw Error(ErrorKind::value_error, fmt::format("{} must be positive, got {}", argument, count));
}

/// A tensor of strings with `rows` rows, which `rowOf` returns.
template <class RowOf> static Tensor gatherStrings(Shape shape, size_t rows, RowOf rowOf) {
  std::vector<std::string> strings;
  strings.reserve(static_cast<size_t>(shape.elements()));
  for (size_t row = 0; row < rows; ++row) {
    const std::span<const std::string> elements = rowOf(row);
    strings.insert(strings.end(), elements.begin(), elements.end());
  }
  return TensorAccess::ofStrings(std::move(strings), std::move(shape));
}

void requireHeld(const char *caller, double number, DType dtype) {
  const Tensor wide = Tensor::full({}, number, DType::float64);
  if (!is_float(dtype) && wide.astype(dtype).astype(DType::float64).item<double>() != number)
    throw Error(ErrorKind::value_error, fmt::format("{}: {} cannot represent {}", caller, name(dtype), number));
}

Tensor gatherRows(const Tensor &source, std::span<const int64_t> rows) {
  std::vector<int64_t> dims = source.shape().dims();
  const int64_t count = dims[0];
  dims[0] = static_cast<int64_t>(rows.size());
  if (source.dtype() == DType::string)
    return gatherStrings(Shape(dims), rows.size(), [&](size_t i) {
      const size_t width = static_cast<size_t>(source.size() / count);
      return TensorAccess::strings(source).subspan(static_cast<size_t>(rows[i]) * width, width);
    });
  size_t rowBytes = count == 0 ? 0 : static_cast<size_t>(TensorAccess::bytes(source) / count);
  Tensor result = TensorAccess::allocate(source.dtype(), Shape(dims));
  const Tensor host = TensorAccess::onHost(source);
  const std::byte *from = TensorAccess::data(host);
  std::byte *to = TensorAccess::mutableData(result);
  for (int64_t row : rows) {
    std::memcpy(to, from + static_cast<size_t>(row) * rowBytes, rowBytes);
    to += rowBytes;
  }
  return result;
}

Tensor stackRows(const std::vector<Tensor> &rows) {
  std::vector<int64_t> dims = rows[0].shape().dims();
  dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  for (const Tensor &row : rows)
    if (row.shape() != rows[0].shape() || row.dtype() != rows[0].dtype())
      throw Error(ErrorKind::value_error,
                  fmt::format("cannot batch elements of different types: {} {} and {} {}", name(rows[0].dtype()),
                              rows[0].shape().str(), name(row.dtype()), row.shape().str()));
  if (rows[0].dtype() == DType::string)
    return gatherStrings(Shape(dims), rows.size(), [&](size_t i) { return TensorAccess::strings(rows[i]); });
  Tensor result = TensorAccess::allocate(rows[0].dtype(), Shape(dims));
  std::byte *to = TensorAccess::mutableData(result);
  size_t rowBytes = static_cast<size_t>(TensorAccess::bytes(rows[0]));
  for (const Tensor &row : rows) {
    std::memcpy(to, TensorAccess::data(TensorAccess::onHost(row)), rowBytes);
    to += rowBytes;
  }
  return result;
}

/// The tensors of an element in the order of the first element's tensors. value_error if they differ in number or
/// names.
static std::vector<Tensor> alike(const Tensors &first, const Tensors &tensors, const char *part) {
  if (first.size() != tensors.size() || first.names().empty() != tensors.names().empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("cannot batch elements of different structures: `{}` has {} tensors [{}] and {} tensors [{}]", part,
                    first.size(), fmt::join(first.names(), ", "), tensors.size(), fmt::join(tensors.names(), ", ")));
  if (first.names() == tensors.names())
    return {tensors.begin(), tensors.end()};
  return inOrder({.kind = "tensor", .owner = "a batch with the first element", .names = first.names()}, part, tensors);
}

Batch stackElements(const std::vector<Batch> &elements) {
  auto column = [&](Tensors Batch::*part, const char *name) {
    const Tensors &first = elements[0].*part;
    std::vector<std::vector<Tensor>> rows(first.size());
    for (const Batch &element : elements) {
      const std::vector<Tensor> tensors = alike(first, element.*part, name);
      for (size_t i = 0; i < tensors.size(); ++i)
        rows[i].push_back(tensors[i]);
    }
    std::vector<Tensor> list;
    for (const std::vector<Tensor> &each : rows)
      list.push_back(stackRows(each));
    return TensorAccess::named(std::move(list), first.names());
  };
  return {column(&Batch::x, "x"), column(&Batch::y, "y"), column(&Batch::sample_weight, "sample_weight")};
}

Tensor concatenateRows(const std::vector<Tensor> &parts) {
  if (parts.size() == 1)
    return parts[0];
  std::vector<int64_t> dims = parts[0].shape().dims();
  dims.at(0) = 0;
  for (const Tensor &part : parts)
    dims[0] += part.shape()[0];
  if (parts[0].dtype() == DType::string)
    return gatherStrings(Shape(dims), parts.size(), [&](size_t i) { return TensorAccess::strings(parts[i]); });
  Tensor result = TensorAccess::allocate(parts[0].dtype(), Shape(dims));
  std::byte *to = TensorAccess::mutableData(result);
  for (const Tensor &part : parts) {
    std::memcpy(to, TensorAccess::data(TensorAccess::onHost(part)), static_cast<size_t>(TensorAccess::bytes(part)));
    to += TensorAccess::bytes(part);
  }
  return result;
}

Batch gatherBatch(const Batch &arrays, std::span<const int64_t> rows) {
  bool contiguous = true;
  for (size_t i = 1; i < rows.size(); ++i)
    contiguous &= rows[i] == rows[0] + static_cast<int64_t>(i);
  auto gather = [&](const Tensors &tensors) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(contiguous && !rows.empty() ? tensor.slice(rows.front(), rows.back() + 1)
                                                 : gatherRows(tensor, rows));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  return {gather(arrays.x), gather(arrays.y), gather(arrays.sample_weight)};
}

uint64_t ShuffleOrder::below(uint64_t n) {
  uint64_t limit = UINT64_MAX - UINT64_MAX % n; // a larger draw would bias the result toward small values
  for (;;)
    if (uint64_t draw = engine_(); draw < limit)
      return draw % n;
}
void ShuffleOrder::shuffle(std::span<int64_t> order) {
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[below(i)]);
}

} // namespace halftone::detail
