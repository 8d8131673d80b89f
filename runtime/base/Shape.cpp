// Shapes.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Shape.h"
#include "runtime/base/Status.h"
#include <fmt/format.h>
#include <ostream>

using namespace halftone;

static void checkDims(const std::vector<int64_t> &dims, const Shape &shape) {
  for (int64_t d : dims)
    if (d < none.value)
      throw Error(ErrorKind::value_error,
                  fmt::format("A dimension must be at least 0, or none; the shape is {}", shape.str()));
}

Shape::Shape(std::initializer_list<Dim> dims) : dims_(dims.begin(), dims.end()) { checkDims(dims_, *this); }
Shape::Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) { checkDims(dims_, *this); }

int64_t Shape::rank() const { return static_cast<int64_t>(dims_.size()); }

int64_t Shape::operator[](int64_t axis) const {
  const int64_t index = axis < 0 ? axis + rank() : axis;
  if (index < 0 || index >= rank())
    throw Error(ErrorKind::value_error,
                fmt::format("Axis {} is out of range for the shape {} of rank {}", axis, str(), rank()));
  return dims_[static_cast<size_t>(index)];
}

int64_t Shape::elements() const {
  int64_t count = 1;
  bool overflows = false, empty = false;
  for (int64_t d : dims_) {
    if (d == none.value)
      throw Error(ErrorKind::value_error,
                  fmt::format("The shape {} has an unknown dimension, so its number of elements is unknown", str()));
    empty |= d == 0;
    overflows |= __builtin_mul_overflow(count, d, &count);
  }
  if (empty)
    return 0;
  if (overflows)
    throw Error(ErrorKind::value_error, fmt::format("The shape {} has more elements than 63 bits can count", str()));
  return count;
}

std::string Shape::str() const {
  std::string text = "(";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i)
      text += ", ";
    text += dims_[i] == none.value ? "None" : std::to_string(dims_[i]);
  }
  return text + (dims_.size() == 1 ? ",)" : ")");
}

std::ostream &halftone::operator<<(std::ostream &os, const Shape &shape) { return os << shape.str(); }
