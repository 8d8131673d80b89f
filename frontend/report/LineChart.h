// Line charts as SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Plot.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

inline constexpr double chartWidth = 470;
double heightOf(const LineChart &chart); // includes the legend

/// An <svg> element without its style sheet.
std::string chartSvg(const LineChart &chart);

/// Axis ticks from at most `low` to at least `high`, about `count` of them. Their step is 1, 2 or 5 times a power of
/// ten.
std::vector<double> ticksOf(double low, double high, int64_t count);

} // namespace halftone::detail
