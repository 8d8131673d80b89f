// Streaming quantiles, estimated as in Keras's Discretization.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::detail {

/// Values in ascending order, each with the weight of the data around it. Source:
/// keras.src.layers.preprocessing.discretization.
class QuantileSummary {
public:
  /// `epsilon`: the maximum rank error of a quantile as a fraction of the data, positive and finite.
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}
  void add(std::span<const float> data);
  /// The boundaries of `bins` equally populated bins, at most bins - 1.
  std::vector<double> boundaries(int64_t bins) const;

private:
  void compress(double epsilon);
  double epsilon_;
  std::vector<float> values_, weights_;
};

} // namespace halftone::detail
