// Tensors from rows: numbers in braces, vectors of bools, and tensors concatenated along an axis.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include "runtime/base/Extents.h"
#include "runtime/base/Number.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace halftone;

namespace {
/// Writes the numbers of rows consecutively.
class RowWriter {
public:
  RowWriter(std::byte *to, DType dtype, const Shape &shape) : to_(to), dtype_(dtype), shape_(shape) {}

  /// `rows` is the part of the tensor at `indices_`.
  void write(std::span<const Rows> rows) {
    const auto axis = static_cast<int64_t>(indices_.size());
    if (static_cast<int64_t>(rows.size()) != shape_[axis])
      refuse(fmt::format("has {} elements; expected {}", rows.size(), shape_[axis]));
    const bool areNumbers = axis + 1 == shape_.rank();
    for (const Rows &row : rows) {
      indices_.push_back(&row - rows.data());
      if (row.is_number() != areNumbers)
        refuse(areNumbers ? "is a row; expected a number" : "is a number; expected a row");
      if (areNumbers)
        write(row.number());
      else
        write(row.list());
      indices_.pop_back();
    }
  }

private:
  void write(const Number &number) {
    const double real = number.real();
    const uint64_t bits = number.bits();
    const bool isReal = number.kind() == Number::Kind::real;
    requireHolds("Rows in braces", dtype_, number);
    if (isReal && !is_float(dtype_) && dtype_ != DType::bool_ && real != std::floor(real))
      throw Error(ErrorKind::value_error, fmt::format("Rows in braces: {} cannot represent {}", name(dtype_), real));
    const DType from = isReal ? DType::float64 : number.is_negative() ? DType::int64 : DType::uint64;
    convert(from, isReal ? static_cast<const void *>(&real) : &bits, dtype_, to_, 1).orThrow();
    to_ += itemsize(dtype_);
  }
  [[noreturn]] void refuse(const std::string &what) const {
    throw Error(ErrorKind::value_error,
                fmt::format("Rows in braces differ: the element at [{}] {}, as at its first neighbor",
                            fmt::join(indices_, "]["), what));
  }

  std::byte *to_;
  DType dtype_;
  const Shape &shape_;
  std::vector<ptrdiff_t> indices_{};
};
} // namespace

Tensor Tensor::of_rows(std::initializer_list<Rows> rows, DType dtype) {
  std::vector<int64_t> dims{static_cast<int64_t>(rows.size())};
  for (const Rows *first = rows.begin(); dims.back() > 0 && !first->is_number(); first = first->list().data())
    dims.push_back(static_cast<int64_t>(first->list().size()));
  const Shape shape(std::move(dims));
  Tensor result = TensorAccess::allocate(dtype, shape);
  RowWriter(TensorAccess::mutableData(result), dtype, shape).write({rows.begin(), rows.size()});
  return result;
}

Tensor::Tensor(const std::vector<bool> &data) : Tensor(data, Shape{data.size()}) {}

Tensor::Tensor(const std::vector<bool> &data, const Shape &shape) {
  const std::vector<uint8_t> bytes(data.begin(), data.end());
  *this = Tensor(bytes.data(), bytes.size(), DType::bool_, shape);
}

Tensor::Tensor(Owned owned, DType dtype) : Tensor(owned, dtype, Shape{owned.count}) {}

/// `axis` of a shape of `rank`, counted from the front.
static int64_t axisOf(const char *caller, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorKind::value_error, fmt::format("{}: axis {} is out of range for rank {}", caller, axis, rank));
  return axis < 0 ? axis + rank : axis;
}

static void requireTensors(const char *caller, const std::vector<Tensor> &tensors) {
  if (tensors.empty())
    throw Error(ErrorKind::value_error, fmt::format("{} needs at least one tensor", caller));
  for (const Tensor &tensor : tensors)
    if (tensor.dtype() != tensors[0].dtype())
      throw Error(ErrorKind::type_error,
                  fmt::format("{} of {} and {} tensors; expected the same dtype: convert them with astype", caller,
                              name(tensors[0].dtype()), name(tensor.dtype())));
}

/// Writes `counts[i]` elements of the i-th tensor for each of the `steps` along the axes before the concatenation axis.
template <class Element, class ElementsOf>
static void join(const std::vector<Tensor> &tensors, const std::vector<size_t> &counts, int64_t steps,
                 ElementsOf elementsOf, Element *to) {
  for (int64_t step = 0; step < steps; ++step)
    for (size_t i = 0; i < tensors.size(); ++i)
      if (counts[i])
        to = std::copy_n(elementsOf(tensors[i]) + static_cast<size_t>(step) * counts[i], counts[i], to);
}

Tensor Tensor::concatenate(const std::vector<Tensor> &tensors, int64_t axis) {
  requireTensors("concatenate", tensors);
  const Shape first = tensors[0].shape();
  const auto along = static_cast<size_t>(axisOf("concatenate", axis, first.rank()));
  std::vector<int64_t> dims = first.dims();
  dims[along] = 0;
  const bool areStrings = tensors[0].dtype() == DType::string;
  const int64_t width = areStrings ? 1 : itemsize(tensors[0].dtype());
  std::vector<size_t> parts; // number of strings or bytes of each tensor per step along the axes before `along`
  for (const Tensor &tensor : tensors) {
    std::vector<int64_t> own = tensor.shape().dims();
    const int64_t extent = own.size() > along ? std::exchange(own[along], first[static_cast<int64_t>(along)]) : 0;
    if (own != first.dims())
      throw Error(ErrorKind::value_error,
                  fmt::format("concatenate along axis {} of shapes {} and {}, which differ in more than "
                              "that axis",
                              axis, first.str(), tensor.shape().str()));
    dims[along] = extentSum(dims[along], extent);
    int64_t part = tensor.size() ? extent * width : 0;
    for (size_t inner = along + 1; inner < own.size(); ++inner)
      part *= own[inner];
    parts.push_back(static_cast<size_t>(part));
  }
  const Shape shape(std::move(dims));
  int64_t steps = shape.elements() ? 1 : 0;
  for (size_t outer = 0; outer < along; ++outer)
    steps *= shape[static_cast<int64_t>(outer)];
  if (areStrings) {
    std::vector<std::string> strings(static_cast<size_t>(shape.elements()));
    join(tensors, parts, steps, [](const Tensor &t) { return TensorAccess::strings(t).data(); }, strings.data());
    return TensorAccess::ofStrings(std::move(strings), shape);
  }
  Tensor result = TensorAccess::allocate(tensors[0].dtype(), shape);
  if (steps > 0)
    join(tensors, parts, steps, TensorAccess::data, TensorAccess::mutableData(result));
  return result;
}

Tensor Tensor::stack(const std::vector<Tensor> &tensors, int64_t axis) {
  requireTensors("stack", tensors);
  const Shape first = tensors[0].shape();
  const int64_t along = axisOf("stack", axis, first.rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor &tensor : tensors) {
    std::vector<int64_t> dims = tensor.shape().dims();
    if (tensor.shape() != first)
      throw Error(ErrorKind::value_error,
                  fmt::format("stack of shapes {} and {}, which differ", first.str(), tensor.shape().str()));
    dims.insert(dims.begin() + along, 1);
    parts.push_back(tensor.reshape(Shape(dims)));
  }
  return concatenate(parts, along);
}
