// Draws a chart of lines as SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Plot.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

inline constexpr double chartWidth = 470;
double heightOf(const LineChart &chart); // it grows with the legend

/// An <svg> element without its style.
std::string chartSvg(const LineChart &chart);

/// Numbers from at most `low` to at least `high` that are 1, 2 or 5 times a power of ten apart, about `count` of them.
std::vector<double> ticksOf(double low, double high, int64_t count);

} // namespace halftone::detail
