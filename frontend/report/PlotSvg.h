// The picture of a model's graph as SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/ModelGraph.h"
#include "halftone/Plot.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The lines of text in a node's box, from the facts that `args` ask for.
struct NodeLabel {
  std::string title;
  std::vector<std::string> lines;
};
NodeLabel labelOf(const ModelGraph::Node &node, const PlotModelArgs &args);

/// CSS for the picture and for charts, with colors for light and dark; a page or a picture holds it once.
extern const std::string_view pictureStyle;

/// The <svg> element with its style and a ground in the color of paper, as a file of its own.
std::string pictureFile(std::string svg);

/// An <svg> element without its style. value_error for an unknown rankdir.
std::string graphSvg(const ModelGraph &graph, const PlotModelArgs &args);

} // namespace halftone::detail
