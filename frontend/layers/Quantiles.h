// Quantiles of data that come in batches, as Keras's Discretization estimates them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::detail {

/// Values in rising order, each with the weight of the data around it. Source: keras.src.layers.preprocessing.discretization.
class QuantileSummary {
public:
  /// `epsilon`: the share of the data by which a quantile may be wrong, above 0 and finite.
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}
  void add(std::span<const float> data);
  /// The boundaries of `bins` bins with as much data each, at most bins - 1.
  std::vector<double> boundaries(int64_t bins) const;

private:
  void compress(double epsilon);
  double epsilon_;
  std::vector<float> values_, weights_;
};

} // namespace halftone::detail
