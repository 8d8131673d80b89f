// Draws axes, lines and a legend.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/LineChart.h"
#include "frontend/report/Markup.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace halftone::detail {

namespace {

constexpr double left = 58, right = 452, top = 34, bottom = 226, legendHeight = 20;
constexpr int64_t colors = 6;

/// Maps values from `low` to `high` to pixels; other values are clamped.
struct Axis {
  std::vector<double> ticks;
  double low, high, from, to;
  double at(double value) const { return from + (to - from) * (std::clamp(value, low, high) - low) / (high - low); }
  bool holds(double value) const {
    const double rounding = (high - low) * 1e-9;
    return value >= low - rounding && value <= high + rounding;
  }
};

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool areWhole = true; // all values are integers
  void take(double value) {
    areWhole &= value == std::floor(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool isFinite(const std::pair<double, double> &point) {
  return std::abs(point.first) < 1e300 && std::abs(point.second) < 1e300; // so that differences are finite too
}

int64_t colorOf(const LineChart::Line &line) { return (line.color % colors + colors) % colors; }

Axis axisOfX(const Extent &extent) {
  const double room = extent.low < extent.high ? 0 : 1;
  Axis axis{ticksOf(extent.low, extent.high, 6), extent.low - room, extent.high + room, left + 8, right - 8};
  std::erase_if(axis.ticks, [&](double tick) {
    const bool isBetween = extent.areWhole && tick != std::floor(tick); // for example between two epochs
    return isBetween || !axis.holds(tick);
  });
  return axis;
}
Axis axisOfY(const LineChart &chart, const Extent &extent) {
  const auto [low, high] = chart.range.value_or(std::pair(extent.low, extent.high));
  Axis axis{ticksOf(low, high, 4), low, high, bottom, top};
  if (!chart.range || !(low < high)) {
    axis.low = axis.ticks.front();
    axis.high = axis.ticks.back();
  }
  std::erase_if(axis.ticks, [&](double tick) { return !axis.holds(tick); });
  return axis;
}

std::string lineMarkup(const LineChart::Line &line, const Axis &x, const Axis &y) {
  std::string d, dots;
  bool isOpen = false;
  for (const auto &point : line.points) {
    if (!isFinite(point)) {
      isOpen = false;
      continue;
    }
    d += fmt::format("{}{:.1f} {:.1f}", isOpen ? "L" : "M", x.at(point.first), y.at(point.second));
    isOpen = true;
    if (line.points.size() <= 40)
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.4\"><title>{}: {:.6g} at {:.6g}</title></circle>",
                          x.at(point.first), y.at(point.second), escaped(line.name), point.second, point.first);
  }
  return fmt::format("<g class=\"line k{}{}\"><path d=\"{}\"/>{}</g>\n", colorOf(line), line.dashed ? " dashed" : "", d,
                     dots);
}

std::string axesMarkup(const Axis &x, const Axis &y, const std::string &name) {
  std::string markup;
  for (double tick : y.ticks)
    markup += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"faint\" x=\"{}\" y=\"{:.1f}\" "
                          "text-anchor=\"end\">{:.6g}</text>\n",
                          left, y.at(tick), right, left - 7, y.at(tick) + 4, tick);
  for (double tick : x.ticks)
    markup += fmt::format("<text class=\"faint\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.6g}</text>\n",
                          x.at(tick), bottom + 18, tick);
  return markup + fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", right,
                              bottom + 34, escaped(name));
}

} // namespace

std::vector<double> ticksOf(double low, double high, int64_t count) {
  if (!(high - low > 1e-300)) {
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= room;
    high += room;
  }
  const double rough = (high - low) / static_cast<double>(count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step);
  for (int64_t i = 0; ticks.empty() || (ticks.back() < high - step * 1e-9 && i <= 4 * count); ++i)
    ticks.push_back((first + static_cast<double>(i)) * step);
  if (ticks.size() == 1)
    ticks.push_back(ticks[0] + step);
  return ticks;
}

double heightOf(const LineChart &chart) { return bottom + 44 + legendHeight * static_cast<double>(chart.lines.size()); }

std::string chartSvg(const LineChart &chart) {
  Extent ofX, ofY;
  for (const LineChart::Line &line : chart.lines)
    for (const auto &point : line.points)
      if (isFinite(point)) {
        ofX.take(point.first);
        ofY.take(point.second);
      }
  std::string markup = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{3:.0f}\" height=\"{0:.0f}\" "
      "viewBox=\"0 0 {3:.0f} {0:.0f}\">\n<title>{1}</title>\n<text class=\"title\" x=\"{2}\" y=\"18\">{1}</text>\n",
      heightOf(chart), escaped(chart.title), left, chartWidth);
  if (ofX.low <= ofX.high) {
    const Axis x = axisOfX(ofX), y = axisOfY(chart, ofY);
    markup += axesMarkup(x, y, chart.axis);
    for (const LineChart::Line &line : chart.lines)
      markup += lineMarkup(line, x, y);
  } else {
    markup += fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\">no finite value</text>\n", left, top + 40);
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const LineChart::Line &line = chart.lines[i];
    const double y = bottom + 52 + legendHeight * static_cast<double>(i);
    markup += fmt::format("<g class=\"line k{}{}\"><path d=\"M{} {}h26\"/></g><text x=\"{}\" y=\"{}\">{}</text>\n",
                          colorOf(line), line.dashed ? " dashed" : "", left, y - 4, left + 34, y, escaped(line.name));
  }
  return markup + "</svg>\n";
}

} // namespace halftone::detail
