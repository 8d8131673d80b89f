// Layered layout: rows by longest path from a source, positions by the mean of neighbours, long edges in lanes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/GraphLayout.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>

namespace halftone::detail {

namespace {

constexpr double boxGap = 26, rowGap = 34, laneGap = 12, margin = 8;

/// Range maxima over rows. raise() raises all values of a range to at least a bound.
class RowMaxima {
public:
  explicit RowMaxima(const std::vector<double> &values) : count_(values.size()), nodes_(4 * values.size() + 4) {
    fill(1, 0, count_, values);
  }
  double of(size_t first, size_t end) const { return find(1, 0, count_, {first, end}); }
  void raise(size_t first, size_t end, double bound) { lift(1, 0, count_, {first, end}, bound); }

private:
  static constexpr double none = -std::numeric_limits<double>::infinity();
  struct Node {
    double largest = none, bound = none; // `bound` applies to all rows below the node
  };
  using Range = std::pair<size_t, size_t>;

  void fill(size_t node, size_t first, size_t end, const std::vector<double> &values) {
    if (first == end)
      return;
    nodes_[node].largest = *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                             values.begin() + static_cast<std::ptrdiff_t>(end));
    if (end - first == 1)
      return;
    const size_t middle = (first + end) / 2;
    fill(2 * node, first, middle, values);
    fill(2 * node + 1, middle, end, values);
  }
  double find(size_t node, size_t first, size_t end, Range range) const {
    if (range.second <= first || end <= range.first)
      return none;
    if (range.first <= first && end <= range.second)
      return nodes_[node].largest;
    const size_t middle = (first + end) / 2;
    return std::max({nodes_[node].bound, find(2 * node, first, middle, range), find(2 * node + 1, middle, end, range)});
  }
  void lift(size_t node, size_t first, size_t end, Range range, double bound) {
    if (range.second <= first || end <= range.first)
      return;
    nodes_[node].largest = std::max(nodes_[node].largest, bound);
    if (range.first <= first && end <= range.second) {
      nodes_[node].bound = std::max(nodes_[node].bound, bound);
      return;
    }
    const size_t middle = (first + end) / 2;
    lift(2 * node, first, middle, range, bound);
    lift(2 * node + 1, middle, end, range, bound);
  }

  size_t count_;
  std::vector<Node> nodes_;
};

/// The layout in top-to-bottom direction.
class Rows {
public:
  Rows(const std::vector<BoxSize> &sizes, const std::vector<std::pair<size_t, size_t>> &edges)
      : sizes_(sizes), edges_(edges), before_(sizes.size()), after_(sizes.size()), row_(sizes.size()),
        middle_(sizes.size()) {
    for (const auto &[from, to] : edges)
      if (from < to) {
        after_[from].push_back(to);
        before_[to].push_back(from);
      }
  }

  GraphLayout layout() {
    chooseRows();
    for (std::vector<size_t> &row : rows_)
      place(row, before_);
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row)
      place(*row, after_);
    for (std::vector<size_t> &row : rows_)
      place(row, before_);
    setTops();
    drawRoutes();
    return finished();
  }

private:
  void chooseRows() {
    for (size_t box = 0; box < sizes_.size(); ++box)
      for (size_t from : before_[box])
        row_[box] = std::max(row_[box], row_[from] + 1);
    for (size_t box = 0; box < sizes_.size(); ++box) // moves a source to the row before its first successor
      if (before_[box].empty() && !after_[box].empty()) {
        size_t next = std::numeric_limits<size_t>::max();
        for (size_t to : after_[box])
          next = std::min(next, row_[to]);
        row_[box] = next - 1;
      }
    rows_.resize(sizes_.empty() ? 0 : 1 + *std::ranges::max_element(row_));
    for (size_t box = 0; box < sizes_.size(); ++box)
      rows_[row_[box]].push_back(box);
  }

  /// Places the boxes of a row side by side, as close as possible to the mean of their neighbours.
  void place(std::vector<size_t> &row, const std::vector<std::vector<size_t>> &neighbours) {
    std::vector<std::pair<double, size_t>> wanted; // the mean, and the previous index in the row
    for (size_t i = 0; i < row.size(); ++i) {
      double sum = 0;
      for (size_t other : neighbours[row[i]])
        sum += middle_[other];
      const auto count = static_cast<double>(neighbours[row[i]].size());
      wanted.emplace_back(count > 0 ? sum / count : middle_[row[i]], i);
    }
    std::ranges::sort(wanted);
    const std::vector<size_t> before = row;
    double right = -std::numeric_limits<double>::infinity(), shift = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const auto &[mean, position] = wanted[i];
      const size_t box = row[i] = before[position];
      const double left = std::max(right + boxGap, mean - sizes_[box].width / 2);
      middle_[box] = left + sizes_[box].width / 2;
      right = left + sizes_[box].width;
      shift += middle_[box] - mean;
    }
    for (size_t box : row)
      middle_[box] -= shift / static_cast<double>(row.size());
  }

  void setTops() {
    double top = 0;
    for (const std::vector<size_t> &row : rows_) {
      tops_.push_back(top);
      double height = 0;
      for (size_t box : row)
        height = std::max(height, sizes_[box].height);
      top += height;
      bottoms_.push_back(top);
      top += rowGap;
    }
  }

  Point startOf(size_t box) const { return {middle_[box], tops_[row_[box]] + sizes_[box].height}; }
  Point endOf(size_t box) const { return {middle_[box], tops_[row_[box]]}; }

  void drawRoutes() {
    routes_.resize(edges_.size());
    std::vector<double> rights, lefts; // per row; `lefts` are negated
    for (const std::vector<size_t> &row : rows_) {
      double right = -std::numeric_limits<double>::infinity(), left = right;
      for (size_t box : row) {
        right = std::max(right, middle_[box] + sizes_[box].width / 2);
        left = std::max(left, sizes_[box].width / 2 - middle_[box]);
      }
      rights.push_back(right);
      lefts.push_back(left);
    }
    RowMaxima right(rights), left(lefts);
    std::vector<size_t> order(edges_.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::sort(order, {}, [&](size_t edge) { return std::pair(spanOf(edge), edge); }); // inner lanes first
    for (size_t edge : order) {
      const auto [from, to] = edges_[edge];
      routes_[edge].isBackward = to <= from;
      if (!routes_[edge].isBackward && row_[to] == row_[from] + 1)
        drawShort(edge);
      else
        drawLong(edge, right, left);
    }
  }
  size_t spanOf(size_t edge) const {
    const auto [from, to] = edges_[edge];
    return row_[from] > row_[to] ? row_[from] - row_[to] : row_[to] - row_[from];
  }
  void drawShort(size_t edge) {
    const Point start = startOf(edges_[edge].first), end = endOf(edges_[edge].second);
    const double middle = (std::max(start.y, bottoms_[row_[edges_[edge].first]]) + end.y) / 2;
    routes_[edge].points = {start, {start.x, middle}, {end.x, middle}, end};
  }
  /// Routes an edge beside all boxes of the rows that it crosses, on the side with the shorter path.
  void drawLong(size_t edge, RowMaxima &right, RowMaxima &left) {
    const auto [from, to] = edges_[edge];
    const bool back = routes_[edge].isBackward;
    const auto [least, most] = std::minmax({row_[from], row_[to]}); // a back edge also crosses its boxes' rows
    const size_t first = back ? least : least + 1, last = back ? most + 1 : most;
    const Point start = startOf(from), end = endOf(to);
    const double atRight = right.of(first, last) + laneGap, atLeft = -left.of(first, last) - laneGap;
    const bool isRight = 2 * atRight - start.x - end.x <= start.x + end.x - 2 * atLeft;
    const double lane = isRight ? atRight : atLeft;
    (isRight ? right : left).raise(first, last, isRight ? lane : -lane);
    const double bend = rowGap / 2;
    const double leave = back ? start.y : bottoms_[row_[from]] + rowGap, enter = back ? end.y : end.y - rowGap;
    const double out = back ? start.y + bend : leave - bend, in = back ? end.y - bend : enter + bend;
    routes_[edge].points = {start,         {start.x, out}, {lane, out}, {lane, leave}, {lane, leave},
                            {lane, enter}, {lane, enter},  {lane, in},  {end.x, in},   end};
  }

  GraphLayout finished() {
    GraphLayout layout;
    double left = 0, right = 0, bottom = bottoms_.empty() ? 0 : bottoms_.back(), top = 0;
    for (size_t box = 0; box < sizes_.size(); ++box) {
      layout.corners.push_back({middle_[box] - sizes_[box].width / 2, tops_[row_[box]]});
      left = std::min(left, layout.corners.back().x);
      right = std::max(right, middle_[box] + sizes_[box].width / 2);
    }
    for (const GraphLayout::Route &route : routes_)
      for (const Point &point : route.points) {
        left = std::min(left, point.x);
        right = std::max(right, point.x);
        top = std::min(top, point.y);
        bottom = std::max(bottom, point.y);
      }
    for (Point &corner : layout.corners)
      corner = {corner.x - left + margin, corner.y - top + margin};
    for (GraphLayout::Route &route : routes_)
      for (Point &point : route.points)
        point = {point.x - left + margin, point.y - top + margin};
    layout.routes = std::move(routes_);
    layout.size = {right - left + 2 * margin, bottom - top + 2 * margin};
    return layout;
  }

  const std::vector<BoxSize> &sizes_;
  const std::vector<std::pair<size_t, size_t>> &edges_;
  std::vector<std::vector<size_t>> before_, after_; // predecessors and successors along forward edges
  std::vector<size_t> row_;                         // of each box
  std::vector<std::vector<size_t>> rows_;
  std::vector<double> middle_;         // center x of each box
  std::vector<double> tops_, bottoms_; // of each row
  std::vector<GraphLayout::Route> routes_;
};

} // namespace

Direction directionOf(const std::string &rankdir) {
  constexpr std::string_view names[] = {"TB", "BT", "LR", "RL"};
  constexpr Direction directions[] = {Direction::down, Direction::up, Direction::right, Direction::left};
  const auto *const found = std::ranges::find(names, rankdir);
  if (found == std::end(names))
    throw Error(ErrorKind::value_error,
                fmt::format("`rankdir` must be \"TB\", \"BT\", \"LR\" or \"RL\", got \"{}\"", rankdir));
  return directions[found - std::begin(names)];
}

GraphLayout layoutGraph(const std::vector<BoxSize> &sizes, const std::vector<std::pair<size_t, size_t>> &edges,
                        Direction direction) {
  const bool isSideways = direction == Direction::right || direction == Direction::left;
  const bool isMirrored = direction == Direction::up || direction == Direction::left;
  std::vector<BoxSize> rotated = sizes;
  if (isSideways)
    for (BoxSize &size : rotated)
      std::swap(size.width, size.height);
  GraphLayout layout = Rows(rotated, edges).layout();
  const double end = layout.size.height;
  const auto rotate = [&](Point point, double height) {
    const double along = isMirrored ? end - point.y - height : point.y;
    return isSideways ? Point{along, point.x} : Point{point.x, along};
  };
  for (size_t box = 0; box < sizes.size(); ++box)
    layout.corners[box] = rotate(layout.corners[box], rotated[box].height);
  for (GraphLayout::Route &route : layout.routes)
    for (Point &point : route.points)
      point = rotate(point, 0);
  if (isSideways)
    std::swap(layout.size.width, layout.size.height);
  return layout;
}

} // namespace halftone::detail
