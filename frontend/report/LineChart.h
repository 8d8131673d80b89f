// A chart of lines over a common axis, as SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points; // points that are not finite leave a gap
    bool isDashed = false;
    int64_t color = 0; // lines with the same index have the same color
  };
  std::string title, axis; // `axis` names the values of x
  std::vector<Line> lines;

  /// An <svg> element, with the least and greatest values at its axes and a legend.
  std::string svg() const;
};

/// Numbers from at most `low` to at least `high` that are 1, 2 or 5 times a power of ten apart, about `count` of them.
std::vector<double> ticksOf(double low, double high, int64_t count);

} // namespace halftone::detail
