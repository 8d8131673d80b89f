// Compares gradients of recorded functions with central differences, for the tests of the frontend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <cmath>

namespace halftone::test {

/// The largest distance between the gradients of sum(y^2 + y) by each of `xs`, where y is a result of `f`, and central
/// differences, relative to the larger of 1 and the derivative. In float64: gradients are compiled, sums interpreted.
inline double slopeError(const std::vector<Tensor> &xs, std::function<Value(const std::vector<Value> &)> f) {
  std::vector<std::vector<double>> points;
  std::vector<Shape> shapes;
  for (const Tensor &x : xs) {
    points.push_back(numbers(x));
    shapes.push_back(x.shape());
  }
  const auto tensors = [&] {
    std::vector<Tensor> feeds;
    for (size_t i = 0; i < points.size(); ++i)
      feeds.emplace_back(points[i], shapes[i]);
    return feeds;
  };
  const auto total = [&f](const std::vector<Value> &v) {
    Value y = f(v);
    return ops::sum(ops::square(y) + y);
  };
  detail::CompiledFunction loss =
      recorded(Run::interpreted, [&](const std::vector<Value> &v) { return std::vector<Value>{total(v)}; });
  const auto play = [&] { return loss.run(tensors())[0].item<double>(); };
  const std::vector<Tensor> slopes =
      runOnce(Run::compiled, tensors(), [&](const std::vector<Value> &v) { return gradients(total(v), v); });
  double worst = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::vector<double> found = numbers(slopes[i]);
    for (size_t j = 0; j < points[i].size(); ++j) {
      constexpr double h = 1e-5;
      const double at = points[i][j];
      points[i][j] = at + h;
      double slope = play();
      points[i][j] = at - h;
      slope = (slope - play()) / (2 * h);
      points[i][j] = at;
      const double error = std::abs(found[j] - slope) / std::max(1.0, std::abs(slope));
      worst = error <= worst ? worst : error; // NaN counts as an error
    }
  }
  return worst;
}

} // namespace halftone::test
