// plot_model(): the picture of a model in a file.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/GraphLayout.h"
#include "frontend/report/PlotDot.h"
#include "frontend/report/PlotSvg.h"
#include "halftone/Model.h"
#include "runtime/base/WriteFile.h"
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
  std::string picture = isDot ? graphDot(graph, args) : graphSvg(graph, args);
  if (!isDot)
    picture.insert(picture.find("<defs>"), fmt::format("<style>{}</style>\n", pictureStyle));
  replaceFile(to_file, std::array<std::string_view, 1>{picture}).orThrow();
}

} // namespace halftone
