// Keys of x[key], as in Python: one index, or a braced list: x[0], x[{Slice(), 0}], x[{ellipsis, Slice(1, none)}].
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Shape.h"

namespace halftone {
/// Python's start:stop:step. Slice() is `:`, Slice(1, none) is `1:`, Slice(none, -1) is `:-1`, Slice(none, none, -1) is
/// `::-1`. Bounds out of range are clamped; value_error for a step of 0.
class Slice {
public:
  class Bound {
  public:
    template <detail::Whole I>
    constexpr Bound(I place) : place_(detail::whole(place, "a bound of a slice")), given_(true) {}
    constexpr Bound(Dim) {} // none
    constexpr bool given() const { return given_; }
    constexpr int64_t place() const { return place_; }

  private:
    int64_t place_ = 0;
    bool given_ = false;
  };
  constexpr Slice() = default;
  constexpr Slice(Bound start, Bound stop, Bound step = none) : start_(start), stop_(stop), step_(step) {}
  constexpr Bound start() const { return start_; }
  constexpr Bound stop() const { return stop_; }
  constexpr Bound step() const { return step_; }

private:
  Bound start_ = none, stop_ = none, step_ = none;
};
struct Ellipsis {};
struct NewAxis {};

/// One item of a key: an integer index (negative from the end; drops the axis), a Slice (keeps the axis), ellipsis or
/// newaxis.
class Index {
public:
  enum class Kind : uint8_t { place, slice, ellipsis, newaxis };
  template <detail::Whole I>
  constexpr Index(I place) : slice_(detail::whole(place, "an index of a key"), none), kind_(Kind::place) {}
  constexpr Index(Slice slice) : slice_(slice), kind_(Kind::slice) {}
  constexpr Index(Ellipsis) : kind_(Kind::ellipsis) {}
  constexpr Index(NewAxis) : kind_(Kind::newaxis) {}
  constexpr Kind kind() const { return kind_; }
  constexpr int64_t place() const { return slice_.start().place(); }
  constexpr Slice slice() const { return slice_; }

private:
  Slice slice_{};
  Kind kind_;
};
inline constexpr Ellipsis ellipsis{}; // Python's `...`: all axes that the key does not name
inline constexpr NewAxis newaxis{};   // an axis of extent 1, as `None` in NumPy's keys
} // namespace halftone
