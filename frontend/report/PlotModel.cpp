// plot_model() and plot_charts(): write pictures to files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/GraphLayout.h"
#include "frontend/report/LineChart.h"
#include "frontend/report/PlotDot.h"
#include "frontend/report/PlotSvg.h"
#include "halftone/Model.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

void plot_model(const Model &model, const std::string &to_file, const PlotModelArgs &args) {
  const bool isDot = to_file.ends_with(".dot");
  if (!isDot && !to_file.ends_with(".svg"))
    throw Error(ErrorKind::value_error, fmt::format("`to_file` must end with .svg or .dot, got '{}'", to_file));
  directionOf(args.rankdir); // throws before anything is drawn
  const ModelGraph graph = modelGraph(model, args.expand_nested);
  const std::string picture = isDot ? graphDot(graph, args) : pictureFile(graphSvg(graph, args));
  replaceFile(to_file, std::array<std::string_view, 1>{picture}).orThrow();
}

void plot_charts(const std::vector<LineChart> &charts, const std::string &to_file) {
  if (!to_file.ends_with(".svg"))
    throw Error(ErrorKind::value_error, fmt::format("`to_file` must end with .svg, got '{}'", to_file));
  std::string inside;
  double width = 0, height = 0;
  for (const LineChart &chart : charts) {
    inside += chartSvg(chart).insert(4, fmt::format(" x=\"{:.0f}\"", width));
    width += chartWidth;
    height = std::max(height, heightOf(chart));
  }
  const std::string file =
      pictureFile(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                              "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}</svg>\n",
                              width, height, inside));
  replaceFile(to_file, std::array<std::string_view, 1>{file}).orThrow();
}

} // namespace halftone
