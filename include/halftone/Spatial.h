// Arguments of layers with spatial axes: margins and random factors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"

namespace halftone {
/// The number of elements before and after an axis.
struct Margin {
  int64_t before, after;
  template <detail::Whole I> Margin(I both) : before(detail::whole(both, "a margin")), after(before) {}
  Margin(int64_t before, int64_t after) : before(before), after(after) {}
};
/// One margin for all axes, or one per axis: 1, {1, 2}, {{1, 2}, {0, 3}}.
class Margins {
public:
  template <detail::Whole I> Margins(I all) : list_{Margin(all)} {}
  Margins(std::initializer_list<Margin> list) : list_(list) {}
  explicit Margins(std::vector<Margin> list) : list_(std::move(list)) {}
  const std::vector<Margin> &list() const { return list_; }

private:
  std::vector<Margin> list_;
};

/// The range of a random factor; a single f stands for -|f| to |f|.
class Factor {
public:
  Factor(double factor) : list_{factor} {}
  Factor(double lower, double upper) : list_{lower, upper} {}
  explicit Factor(std::vector<double> list) : list_(std::move(list)) {}
  const std::vector<double> &list() const { return list_; }

private:
  std::vector<double> list_;
};
} // namespace halftone
