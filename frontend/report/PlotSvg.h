// The graph of a model as SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/ModelGraph.h"
#include "halftone/Plot.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The text lines in a node's box, with the facts that `args` selects.
struct NodeLabel {
  std::string title;
  std::vector<std::string> lines;
};
NodeLabel labelOf(const ModelGraph::Node &node, const PlotModelArgs &args);

/// CSS of graphs and charts, with light and dark colors. Each page or picture includes it once.
extern const std::string_view pictureStyle;

/// Makes a standalone file of an <svg> element, with its style sheet and an opaque background.
std::string pictureFile(std::string svg);

/// An <svg> element without its style sheet. value_error for an unknown rankdir.
std::string graphSvg(const ModelGraph &graph, const PlotModelArgs &args);

} // namespace halftone::detail
