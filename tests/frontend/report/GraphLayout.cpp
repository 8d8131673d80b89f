// Positions of boxes and routes of edges.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/GraphLayout.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace halftone::detail;

namespace {

using Edges = std::vector<std::pair<size_t, size_t>>;

bool overlap(const GraphLayout &layout, const std::vector<BoxSize> &sizes, size_t a, size_t b) {
  const Point &p = layout.corners[a], &q = layout.corners[b];
  return p.x < q.x + sizes[b].width && q.x < p.x + sizes[a].width && p.y < q.y + sizes[b].height &&
         q.y < p.y + sizes[a].height;
}

/// Skip connections, each over two boxes.
Edges residual(size_t boxes) {
  Edges edges;
  for (size_t i = 1; i < boxes; ++i) {
    edges.emplace_back(i - 1, i);
    if (i >= 3 && i % 3 == 0)
      edges.emplace_back(i - 3, i);
  }
  return edges;
}

} // namespace

TEST_CASE("no boxes of a random graph overlap, all stand in the picture, and edges lead onwards") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<BoxSize> sizes;
    Edges edges;
    const size_t count = random() % 30;
    for (size_t i = 0; i < count; ++i) {
      sizes.push_back({20.0 + static_cast<double>(random() % 200), 20.0 + static_cast<double>(random() % 60)});
      for (size_t k = random() % 3; i > 0 && k > 0; --k)
        edges.emplace_back(random() % i, i);
      if (random() % 8 == 0)
        edges.emplace_back(i, random() % (i + 1)); // a back edge, or an edge to itself
    }
    for (const Direction direction : {Direction::down, Direction::up, Direction::right, Direction::left}) {
      const GraphLayout layout = layoutGraph(sizes, edges, direction);
      for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b < a; ++b)
          REQUIRE(!overlap(layout, sizes, a, b));
        REQUIRE(layout.corners[a].x >= 0);
        REQUIRE(layout.corners[a].x + sizes[a].width <= layout.size.width);
        REQUIRE(layout.corners[a].y >= 0);
        REQUIRE(layout.corners[a].y + sizes[a].height <= layout.size.height);
      }
      for (size_t edge = 0; edge < edges.size(); ++edge) {
        const auto [from, to] = edges[edge];
        REQUIRE(layout.routes[edge].isBackward == (to <= from));
        REQUIRE(layout.routes[edge].points.size() % 3 == 1);
        for (const Point &point : layout.routes[edge].points)
          REQUIRE((point.x >= 0 && point.x <= layout.size.width && point.y >= 0 && point.y <= layout.size.height));
        if (direction == Direction::down && from < to)
          REQUIRE(layout.corners[from].y + sizes[from].height < layout.corners[to].y);
        if (direction == Direction::left && from < to)
          REQUIRE(layout.corners[to].x + sizes[to].width < layout.corners[from].x);
      }
    }
  }
}

TEST_CASE("a way over several rows runs beside the boxes between") {
  const std::vector<BoxSize> sizes(4, {100, 40});
  const GraphLayout layout = layoutGraph(sizes, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, Direction::down);
  CHECK(layout.corners[0].x == layout.corners[3].x);
  const std::vector<Point> &route = layout.routes[3].points;
  CHECK(route[4].x == route[6].x); // the straight part
  CHECK(route[4].x > layout.corners[1].x + 100);
  CHECK(route.back().y == layout.corners[3].y);
}

// Work quadratic in the number of boxes would exceed the test's timeout.
TEST_CASE("a graph of 200,000 boxes has a layout") {
  const std::vector<BoxSize> sizes(200000, {100, 40});
  const Edges edges = residual(sizes.size());
  const GraphLayout layout = layoutGraph(sizes, edges, Direction::down);
  CHECK(layout.corners.size() == sizes.size());
  CHECK(layout.routes.size() == edges.size());
  CHECK_FALSE(overlap(layout, sizes, 0, sizes.size() - 1));
}
