// Shapes: lists of extents of any integer type, with `none` for an extent that is not known yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Number.h"
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace halftone {

/// An extent. It converts from every integer type, so that `{rows.size(), 784}` is not a narrowing error.
struct Dim {
  int64_t value = -1;
  constexpr Dim() = default;
  template <detail::Whole I> constexpr Dim(I v) : value(detail::whole(v, "a dimension")) {}
  constexpr operator int64_t() const { return value; }
};
inline constexpr Dim none{}; // Keras's None: an extent that is not known until there is a batch

class HALFTONE_API Shape {
public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::vector<int64_t> dims);
  int64_t operator[](int64_t axis) const; // a negative axis counts from the end; value_error out of range
  int64_t rank() const;
  int64_t elements() const; // value_error if an extent is none
  const std::vector<int64_t> &dims() const & { return dims_; }
  std::vector<int64_t> dims() && { return std::move(dims_); }
  const int64_t *begin() const & { return dims_.data(); }
  const int64_t *end() const & { return dims_.data() + dims_.size(); }
  const int64_t *begin() const && = delete; // x.shape().begin() and x.shape().end() would refer to two temporaries;
  const int64_t *end() const && = delete;   // for (int64_t d : x.shape()) compiles
  std::string str() const;                  // "(None, 784)"
  friend bool operator==(const Shape &, const Shape &) = default;

private:
  std::vector<int64_t> dims_;
};
HALFTONE_API std::ostream &operator<<(std::ostream &os, const Shape &shape); // (None, 784)
} // namespace halftone
