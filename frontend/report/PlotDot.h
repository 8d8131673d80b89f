// The picture of a model's graph in Graphviz's language DOT.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/ModelGraph.h"
#include "halftone/Plot.h"
#include <string>

namespace halftone::detail {

/// A digraph with a cluster for each model whose layers the graph holds.
std::string graphDot(const ModelGraph &graph, const PlotModelArgs &args);

} // namespace halftone::detail
