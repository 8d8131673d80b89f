// Lays out a graph: boxes in rows from sources to sinks, and the paths of its edges.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct Point {
  double x = 0, y = 0;
};
struct BoxSize {
  double width = 0, height = 0;
};

enum class Direction : uint8_t { down, up, right, left };
/// "TB", "BT", "LR" or "RL"; value_error for any other text.
Direction directionOf(const std::string &rankdir);

struct GraphLayout {
  std::vector<Point> corners; // the minimum x and y of each box
  struct Route {
    std::vector<Point> points; // the start, then three points for each cubic Bezier curve
    bool isBackward = false;   // against the direction of the graph
  };
  std::vector<Route> routes; // one per edge
  BoxSize size;              // of the whole picture, whose origin is 0
};

/// Lays out boxes of the given sizes. An edge goes from its first box to its second. Each box is in the row after those
/// of all its predecessors that precede it in the list. Edges across several rows are routed beside the boxes in
/// between. O(n log n) for n boxes and edges.
GraphLayout layoutGraph(const std::vector<BoxSize> &sizes, const std::vector<std::pair<size_t, size_t>> &edges,
                        Direction direction);

} // namespace halftone::detail
