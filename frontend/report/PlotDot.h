// The graph of a model in Graphviz's DOT language.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/ModelGraph.h"
#include "halftone/Plot.h"
#include <string>

namespace halftone::detail {

/// A digraph with a cluster for each nested model whose layers are shown.
std::string graphDot(const ModelGraph &graph, const PlotModelArgs &args);

} // namespace halftone::detail
