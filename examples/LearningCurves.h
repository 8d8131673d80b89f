// Draws learning curves as an SVG file: charts side by side, each with a line for each run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <halftone/Error.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace curves {

using Line = std::vector<std::pair<double, double>>; // (time, value)

/// One run: its name and its line in each chart.
struct Run {
  std::string name;
  std::vector<Line> lines;
};
/// One chart: the values at its bottom and top. Values beyond them are drawn at the edge.
struct Chart {
  std::string title;
  double bottom, top;
};
/// The end of all charts' time axes, which begin at 0, and its unit.
struct Time {
  double end;
  std::string unit;
};

inline double leftOf(size_t chart) { return 60 + 440 * static_cast<double>(chart); }
inline double heightOf(const Chart &chart, double value) {
  return 330 - 280 * (std::clamp(value, chart.bottom, chart.top) - chart.bottom) / (chart.top - chart.bottom);
}

inline void drawAxes(std::ostream &svg, const Chart &chart, double left, const Time &time) {
  svg << "<text x='" << left << "' y='35' font-size='15'>" << chart.title << "</text>\n";
  for (int i = 0; i <= 4; ++i) {
    const double value = chart.bottom + (chart.top - chart.bottom) * i / 4;
    char label[32];
    std::snprintf(label, sizeof label, "%.3g", value);
    svg << "<path d='M" << left << " " << heightOf(chart, value) << "h360' stroke='#ddd'/><text x='" << left - 6
        << "' y='" << heightOf(chart, value) + 4 << "' text-anchor='end'>" << label << "</text>\n";
  }
  svg << "<text x='" << left + 360 << "' y='350' text-anchor='end'>" << time.end << " " << time.unit << "</text>\n";
}

/// halftone::Error, an io_error, if the file cannot be written.
inline void draw(const std::string &path, const std::vector<Chart> &charts, const std::vector<Run> &runs,
                 const Time &time) {
  static constexpr const char *colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"};
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << leftOf(charts.size()) - 40 << " "
      << 370 + 20 * runs.size()
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  for (size_t i = 0; i < charts.size(); ++i)
    drawAxes(svg, charts[i], leftOf(i), time);
  for (size_t run = 0; run < runs.size(); ++run) {
    const char *colour = colours[run % std::size(colours)];
    for (size_t i = 0; i < charts.size(); ++i) {
      svg << "<polyline fill='none' stroke-width='1.5' stroke='" << colour << "' points='";
      for (const auto &[at, value] : runs[run].lines.at(i))
        svg << leftOf(i) + 360 * at / time.end << "," << heightOf(charts[i], value) << " ";
      svg << "'/>\n";
    }
    svg << "<text x='60' y='" << 375 + 20 * run << "' fill='" << colour << "'>" << runs[run].name << "</text>\n";
  }
  svg << "</svg>\n";
  svg.close();
  if (!svg)
    throw halftone::Error(halftone::ErrorKind::io_error, "cannot write '" + path + "'");
}

} // namespace curves
