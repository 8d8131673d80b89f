// Quantile summaries: sampled, merged and compressed with NumPy's arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Quantiles.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace halftone::detail {

namespace {
/// numpy.interp() over the points (xs, ys), where xs is non-decreasing.
class PiecewiseLine {
public:
  PiecewiseLine(const std::vector<float> &xs, const std::vector<float> &ys) : xs_(xs), ys_(ys) {}
  double operator()(double x) const {
    const auto above = std::ranges::upper_bound(xs_, x, {}, [](float each) { return static_cast<double>(each); });
    if (above == xs_.begin())
      return ys_.front();
    const auto j = static_cast<size_t>(above - xs_.begin()) - 1;
    if (j + 1 == xs_.size())
      return ys_.back();
    const double x0 = xs_[j], y0 = ys_[j];
    return (ys_[j + 1] - y0) / (xs_[j + 1] - x0) * (x - x0) + y0;
  }

private:
  const std::vector<float> &xs_, &ys_;
};
} // namespace

void QuantileSummary::add(std::span<const float> data) {
  if (data.empty())
    return;
  std::vector<float> sorted(data.begin(), data.end());
  std::ranges::sort(sorted, [](float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  const auto size = static_cast<double>(sorted.size());
  const double step = std::clamp(size / (1.0 / epsilon_), 1.0, size + 1.0);
  struct Point {
    float value, weight;
    size_t position; // keeps equal values in order
  };
  std::vector<Point> points;
  for (size_t i = static_cast<size_t>(step - 1.0); i < sorted.size(); i += static_cast<size_t>(step))
    points.push_back({sorted[i], static_cast<float>(step), points.size()});
  for (size_t i = 0; i < values_.size(); ++i)
    points.push_back({values_[i], weights_[i], points.size()});
  std::ranges::sort(points, [](const Point &a, const Point &b) {
    return a.value < b.value || (!(b.value < a.value) && a.position < b.position);
  });
  values_.clear();
  weights_.clear();
  for (const Point &point : points) {
    values_.push_back(point.value);
    weights_.push_back(point.weight);
  }
  compress(epsilon_);
}

void QuantileSummary::compress(double epsilon) {
  if (static_cast<double>(values_.size()) * epsilon < 1.0)
    return;
  std::vector<float> sums(weights_.size()), shares;
  std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
  for (const float sum : sums)
    shares.push_back(sum / sums.back());
  const PiecewiseLine valueAt(shares, values_), sumAt(shares, sums);
  std::vector<float> values, weights;
  double before = 0.0;
  const auto count = static_cast<int64_t>(std::ceil(1.0 / epsilon));
  for (int64_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon, sum = sumAt(share);
    values.push_back(static_cast<float>(valueAt(share)));
    weights.push_back(static_cast<float>(sum - before));
    before = sum;
  }
  values_ = std::move(values);
  weights_ = std::move(weights);
}

std::vector<double> QuantileSummary::boundaries(int64_t bins) const {
  QuantileSummary all = *this;
  all.compress(1.0 / static_cast<double>(bins));
  if (!all.values_.empty())
    all.values_.pop_back();
  return {all.values_.begin(), all.values_.end()};
}

} // namespace halftone::detail
