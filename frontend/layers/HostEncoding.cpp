// Encodes categories as vectors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/HostEncoding.h"
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/base/FloatMode.h"
#include <fmt/format.h>

namespace halftone::detail {

ValueSpec HostEncoding::specOf(const std::string &caller, const Shape &shape) const {
  if (mode == OutputMode::int_)
    return {shape, dtype};
  std::vector<int64_t> dims = shape.dims();
  if (mode == OutputMode::one_hot ? dims.size() > 1 && dims.back() == 1 : !dims.empty())
    dims.pop_back();
  dims.push_back(depth);
  if (mode != OutputMode::one_hot && dims.size() > 2)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: inputs of output_mode '{}' must have at most 2 axes; received shape {}", caller,
                            Choice<OutputMode>(mode).word(), shape.str()));
  return {Shape(std::move(dims)), dtype};
}

Tensor HostEncoding::of(const std::string &caller, std::span<const int64_t> indices, const Shape &shape) const {
  const ValueSpec spec = specOf(caller, shape);
  if (mode == OutputMode::int_)
    return Tensor(indices, shape).astype(dtype);
  const size_t rows = static_cast<size_t>(spec.shape.elements() / depth);
  const size_t length = rows ? indices.size() / rows : 0;
  std::vector<size_t> begins;
  for (size_t row = 0; row <= rows; ++row)
    begins.push_back(row * length);
  return ofRows(indices, begins).reshape(spec.shape);
}

/// ofRows() computed in T, which represents counts and weights as the result dtype does.
template <class T>
static Tensor countedRows(const HostEncoding &encoding, std::span<const int64_t> indices,
                          std::span<const size_t> rows) {
  const bool isSet = encoding.mode == OutputMode::one_hot || encoding.mode == OutputMode::multi_hot;
  const auto count = static_cast<int64_t>(rows.size()) - 1;
  Tensor result = Tensor::zeros({count, encoding.depth}, dtype_of<T>);
  const std::span<T> numbers = result.mutable_span<T>();
  for (int64_t row = 0; row < count; ++row) {
    T *const to = numbers.data() + row * encoding.depth;
    for (size_t i = rows[static_cast<size_t>(row)]; i < rows[static_cast<size_t>(row) + 1]; ++i)
      if (indices[i] >= 0 && indices[i] < encoding.depth)
        to[indices[i]] = isSet ? T(1) : to[indices[i]] + T(1);
    if (encoding.mode == OutputMode::tf_idf)
      for (size_t i = 0; i < encoding.weights.size(); ++i)
        to[i] *= static_cast<T>(encoding.weights[i]);
  }
  return result.astype(encoding.dtype);
}

Tensor HostEncoding::ofRows(std::span<const int64_t> indices, std::span<const size_t> rows) const {
  const FloatMode floats;
  if (mode == OutputMode::tf_idf && weights.empty())
    throw Error(ErrorKind::value_error, "When `output_mode` is `'tf_idf'`, `idf_weights` must be provided.");
  return dtype == DType::float64 ? countedRows<double>(*this, indices, rows) : countedRows<float>(*this, indices, rows);
}

} // namespace halftone::detail
