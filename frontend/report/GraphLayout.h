// Places the boxes of a graph in rows from its sources to its sinks, and draws the ways of its edges.
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
/// "TB", "BT", "LR" or "RL"; value_error for another text.
Direction directionOf(const std::string &rankdir);

struct GraphLayout {
  std::vector<Point> corners; // the least x and y of each box
  struct Way {
    std::vector<Point> points; // a start, then three points for each cubic curve
    bool goesBack = false;     // against the direction of the graph
  };
  std::vector<Way> ways; // of each edge
  BoxSize size;          // of the whole picture, which begins at 0
};

/// Boxes of `sizes`; an edge leads from the first box to the second. A box stands in the row behind all boxes that lead
/// to it and come before it in the list. Edges over several rows run beside the boxes between. Takes time n log n for n
/// boxes and edges.
GraphLayout layoutGraph(const std::vector<BoxSize> &sizes, const std::vector<std::pair<size_t, size_t>> &edges,
                        Direction direction);

} // namespace halftone::detail
