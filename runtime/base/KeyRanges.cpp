// Resolves NumPy's basic indexing keys.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/KeyRanges.h"
#include "runtime/base/Extents.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone {

static std::string boundText(const Slice::Bound &bound) { return bound.given() ? std::to_string(bound.place()) : ""; }

static std::string itemText(const Index &item) {
  switch (item.kind()) {
  case Index::Kind::place:
    return std::to_string(item.place());
  case Index::Kind::slice:
    return fmt::format("{}:{}{}{}", boundText(item.slice().start()), boundText(item.slice().stop()),
                       item.slice().step().given() ? ":" : "", boundText(item.slice().step()));
  case Index::Kind::ellipsis:
    return "...";
  case Index::Kind::newaxis:
    return "None";
  }
  return {};
}

std::string keyText(std::span<const Index> key) {
  std::vector<std::string> items;
  for (const Index &item : key)
    items.push_back(itemText(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The key with full slices in place of the ellipsis, or after the last item.
static std::vector<Index> itemsOf(std::span<const Index> key, const Shape &shape) {
  const auto counted = [key](Index::Kind kind) { return std::ranges::count(key, kind, &Index::kind); };
  if (counted(Index::Kind::ellipsis) > 1)
    throw Error(ErrorKind::value_error, fmt::format("the key {} has more than one ellipsis", keyText(key)));
  const int64_t named = counted(Index::Kind::place) + counted(Index::Kind::slice);
  if (named > shape.rank())
    throw Error(ErrorKind::value_error, fmt::format("the key {} has {} items for axes, but the shape {} has {} axes",
                                                    keyText(key), named, shape.str(), shape.rank()));
  std::vector<Index> items(key.begin(), key.end());
  auto found = std::ranges::find(items, Index::Kind::ellipsis, &Index::kind);
  if (found != items.end())
    found = items.erase(found);
  items.insert(found, static_cast<size_t>(shape.rank() - named), Slice());
  return items;
}

static AxisRange rangesOf(const Slice &slice, int64_t extent) {
  if (slice.step().given() && slice.step().place() == 0)
    throw Error(ErrorKind::value_error, "slice step cannot be zero");
  if (extent == none)
    return {0, none, 1};
  // A step longer than the axis selects only the first index, whatever its length.
  const int64_t step = slice.step().given() ? std::clamp(slice.step().place(), -extent - 1, extentSum(extent, 1)) : 1;
  const int64_t lower = step > 0 ? 0 : -1, upper = step > 0 ? extent : extent - 1;
  const auto bound = [&](const Slice::Bound &given, int64_t byDefault) {
    if (!given.given())
      return byDefault;
    return std::clamp(given.place() < 0 ? given.place() + extent : given.place(), lower, upper);
  };
  const int64_t start = bound(slice.start(), step > 0 ? lower : upper);
  const int64_t stop = bound(slice.stop(), step > 0 ? upper : lower);
  const int64_t span = step > 0 ? stop - start : start - stop, stride = std::abs(step);
  const int64_t count = span > 0 ? (span - 1) / stride + 1 : 0;
  return {count == 0 ? std::clamp<int64_t>(start, 0, extent) : start, count, count > 1 ? step : 1};
}

KeyRanges rangesOf(std::span<const Index> key, const Shape &shape, bool (*isOpen)(int64_t extent)) {
  KeyRanges ranges;
  for (const Index &item : itemsOf(key, shape)) {
    const auto axis = static_cast<int64_t>(ranges.axes.size());
    if (item.kind() == Index::Kind::newaxis) {
      ranges.kept.push_back(-1);
      continue;
    }
    const int64_t extent = shape[axis];
    if (item.kind() == Index::Kind::slice) {
      ranges.axes.push_back(rangesOf(item.slice(), extent));
      ranges.kept.push_back(axis);
      continue;
    }
    int64_t from = item.place() < 0 && extent != none ? item.place() + extent : item.place();
    if (extent == none || ((from < 0 || from >= extent) && isOpen && isOpen(extent)))
      from = 0;
    else if (from < 0 || from >= extent)
      throw Error(ErrorKind::value_error,
                  fmt::format("index {} is out of bounds for axis {} of shape {}", item.place(), axis, shape.str()));
    ranges.axes.push_back({from, 1, 1});
  }
  return ranges;
}

Shape KeyRanges::region() const {
  std::vector<int64_t> dims;
  for (const AxisRange &axis : axes)
    dims.push_back(axis.count);
  return Shape(std::move(dims));
}

Shape KeyRanges::result() const {
  std::vector<int64_t> dims;
  for (const int64_t axis : kept)
    dims.push_back(axis < 0 ? 1 : axes[static_cast<size_t>(axis)].count);
  return Shape(std::move(dims));
}

} // namespace halftone
