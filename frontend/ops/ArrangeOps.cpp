// keras.ops on Values: concatenation, splitting, repetition and reordering.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value flattened(const Value &x) { return reshape(x, {none}); }

/// Slices [begin, end) of an axis of x.
Value cut(const Value &x, int64_t axis, int64_t begin, int64_t end) {
  std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
  start[static_cast<size_t>(axis)] = begin;
  dims[static_cast<size_t>(axis)] = end - begin;
  return slice(x, Shape(start), Shape(dims));
}

/// The extent of an axis; nullopt if it is None, or stands for None while shapes are inferred.
std::optional<int64_t> knownExtent(const char *op, const Value &x, int64_t axis) {
  const int64_t extent = x.shape()[normalizeAxis(op, axis, x.rank())];
  return extent < 0 || inferringShapes() ? std::nullopt : std::optional(extent);
}

void requireSections(const Value &x, const Sections &sections, int64_t axis) {
  const std::optional<int64_t> extent = knownExtent("split", x, axis);
  if (const std::optional<int64_t> count = sections.count()) {
    constexpr int64_t most = 1 << 20; // each section is a Value; an unknown extent does not bound the count
    if (*count < 1)
      throw Error(ErrorKind::value_error, fmt::format("split: expected at least one section, got {}", *count));
    if (*count > most)
      throw Error(ErrorKind::value_error, fmt::format("split: expected at most {} sections, got {}", most, *count));
    if (extent && *extent % *count != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("split: axis {} of shape {} cannot be divided into {} equal sections", axis,
                              x.shape().str(), *count));
    return;
  }
  const std::vector<int64_t> &indices = sections.indices();
  if (!std::is_sorted(indices.begin(), indices.end()) ||
      (!indices.empty() && (indices.front() < 0 || (extent && indices.back() > *extent))))
    throw Error(ErrorKind::value_error,
                fmt::format("split: expected ascending indices within axis {} of shape {}, got {}", axis,
                            x.shape().str(), indices));
}

/// The start index of each section, and the extent.
std::vector<int64_t> boundsOf(const Sections &sections, int64_t extent) {
  std::vector<int64_t> bounds{0};
  if (const std::optional<int64_t> count = sections.count())
    for (int64_t i = 1; i < *count; ++i)
      bounds.push_back(i * (extent / *count));
  for (int64_t index : sections.indices())
    bounds.push_back(std::min(index, extent));
  bounds.push_back(extent);
  return bounds;
}

/// Moves the last `shift` elements along an axis to the front.
Value rolled(const Value &x, int64_t shift, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (extent == 0 || shift % extent == 0)
    return x;
  const int64_t first = extent - (shift % extent + extent) % extent;
  return concatenate({cut(x, axis, first, extent), cut(x, axis, 0, first)}, axis);
}

Value flipped(const Value &x, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (extent < 2)
    return x;
  Value index = tracing().iota(0, Shape({extent}), indexDtype(extent));
  Value last = scalarLike(extent - 1, index);
  return tracing().gather(x, tracing().binary("sub", last, index), axis);
}

} // namespace

Value stack(const Values &xs, int64_t axis) {
  if (xs.size() == 0)
    throw Error(ErrorKind::value_error, "stack needs at least one input");
  return applyOne("stack", List(xs.begin(), xs.end()), [axis](const List &v) {
    const int64_t along = normalizeAxis("stack", axis, v[0].rank() + 1);
    List parts;
    for (const Value &x : v) {
      if (x.shape() != v[0].shape())
        throw Error(ErrorKind::value_error,
                    fmt::format("stack of shapes {} and {}, which differ", v[0].shape().str(), x.shape().str()));
      parts.push_back(expand_dims(x, along));
    }
    return concatenate(Values(parts), along);
  });
}
std::vector<Value> unstack(const Value &x, std::optional<int64_t> num, int64_t axis) {
  if (!num && x.shape()[normalizeAxis("unstack", axis, x.rank())] < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("unstack: axis {} of shape {} has an unknown extent; expected num", axis, x.shape().str()));
  return apply("unstack", {x}, [num, axis](const List &v) {
    const int64_t along = normalizeAxis("unstack", axis, v[0].rank()), extent = v[0].shape()[along];
    if (num && knownExtent("unstack", v[0], axis).value_or(*num) != *num)
      throw Error(ErrorKind::value_error, fmt::format("unstack: axis {} of shape {} has {} elements, but num is {}",
                                                      axis, v[0].shape().str(), extent, *num));
    List parts;
    for (int64_t i = 0; i < num.value_or(extent); ++i)
      parts.push_back(squeeze(cut(v[0], along, i, i + 1), along));
    return parts;
  });
}
std::vector<Value> split(const Value &x, const Sections &indices_or_sections, int64_t axis) {
  if (x.defined())
    requireSections(x, indices_or_sections, axis);
  return apply("split", {x}, [sections = indices_or_sections, axis](const List &v) {
    requireSections(v[0], sections, axis);
    const int64_t along = normalizeAxis("split", axis, v[0].rank());
    const std::vector<int64_t> bounds = boundsOf(sections, v[0].shape()[along]);
    List parts;
    for (size_t i = 0; i + 1 < bounds.size(); ++i)
      parts.push_back(cut(v[0], along, bounds[i], bounds[i + 1]));
    return parts;
  });
}
Value tile(const Value &x, const Integers &repeats) {
  return applyOne(
      "tile", {x},
      [list = repeats.list()](const List &v) {
        std::vector<int64_t> dims = v[0].shape().dims(), times = list, split, grown, result;
        const size_t rank = std::max(dims.size(), times.size());
        dims.insert(dims.begin(), rank - dims.size(), 1);
        times.insert(times.begin(), rank - times.size(), 1);
        for (size_t axis = 0; axis < rank; ++axis) {
          if (times[axis] < 0)
            throw Error(ErrorKind::value_error, fmt::format("tile: repeats must not be negative, got {}", list));
          split.insert(split.end(), {1, dims[axis]});
          grown.insert(grown.end(), {times[axis], dims[axis]});
          result.push_back(extentProduct(times[axis], dims[axis]));
        }
        return reshape(broadcastTo(reshape(v[0], Shape(split)), Shape(grown)), Shape(result));
      },
      configForm("repeats", repeats));
}
Value repeat(const Value &x, int64_t repeats, std::optional<int64_t> axis) {
  return applyOne(
      "repeat", {x},
      [repeats, axis](const List &v) {
        if (repeats < 0)
          throw Error(ErrorKind::value_error, fmt::format("repeat: repeats must not be negative, got {}", repeats));
        Value in = axis ? v[0] : flattened(v[0]);
        const int64_t along = axis ? normalizeAxis("repeat", *axis, in.rank()) : 0;
        std::vector<int64_t> result = in.shape().dims(), grown = result;
        grown.insert(grown.begin() + along + 1, repeats);
        int64_t &extent = result[static_cast<size_t>(along)];
        extent = extentProduct(extent, repeats);
        return reshape(broadcastTo(expand_dims(in, along + 1), Shape(grown)), Shape(result));
      },
      configForm("repeats", repeats, "axis", axis));
}
Value roll(const Value &x, const Integers &shift, const Axes &axis) {
  return applyOne(
      "roll", {x},
      [shifts = shift.list(), axes = axis.list()](const List &v) {
        if (shifts.empty() || (shifts.size() != 1 && axes.size() > 1 && shifts.size() != axes.size()))
          throw Error(ErrorKind::value_error, fmt::format("roll: {} shifts for {} axes", shifts.size(), axes.size()));
        Value y = axes.empty() ? flattened(v[0]) : v[0];
        for (size_t i = 0; i < std::max(shifts.size(), axes.size()); ++i) {
          const int64_t along = axes.empty() ? 0 : normalizeAxis("roll", axes[axes.size() == 1 ? 0 : i], y.rank());
          y = rolled(y, shifts[shifts.size() == 1 ? 0 : i], along);
        }
        return reshape(y, v[0].shape());
      },
      configForm("shift", Axes(shift.list()), "axis", axis));
}
Value flip(const Value &x, const Axes &axis) {
  return applyOne(
      "flip", {x},
      [list = axis.list()](const List &v) {
        Value y = v[0];
        for (int64_t along : normalizeAxes("flip", list, y.rank()))
          y = flipped(y, along);
        return y;
      },
      configForm("axis", axis));
}
Value swapaxes(const Value &x, int64_t axis1, int64_t axis2) {
  return applyOne(
      "swapaxes", {x},
      [axis1, axis2](const List &v) {
        std::vector<int64_t> permutation(static_cast<size_t>(v[0].rank()));
        std::iota(permutation.begin(), permutation.end(), 0);
        std::swap(permutation[static_cast<size_t>(normalizeAxis("swapaxes", axis1, v[0].rank()))],
                  permutation[static_cast<size_t>(normalizeAxis("swapaxes", axis2, v[0].rank()))]);
        return tracing().transpose(v[0], permutation);
      },
      configForm("axis1", axis1, "axis2", axis2));
}
Value diagonal(const Value &x, int64_t offset, int64_t axis1, int64_t axis2) {
  if (axis1 == axis2)
    throw Error(ErrorKind::value_error,
                fmt::format("`axis1` and `axis2` cannot be the same. Received: axis1={}, axis2={}", axis1, axis2));
  if (isSymbolic(x)) {
    Config config = configOf("offset", offset);
    setField(config, "axis1", axis1);
    setField(config, "axis2", axis2);
    return recordOperation("Diagonal", {x}, config);
  }
  return applyOne("diagonal", {x}, [offset, axis1, axis2](const List &v) {
    const Value y = moveaxis(v[0], {axis1, axis2}, {-2, -1});
    const Shape shape = y.shape();
    const int64_t row = std::max<int64_t>(-offset, 0), column = std::max<int64_t>(offset, 0), columns = shape[-1];
    const int64_t count = std::max<int64_t>(std::min(shape[-2] - row, columns - column), 0);
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end() - 2), result = dims, flat = dims;
    result.push_back(count);
    if (count == 0 || Shape(result).elements() == 0)
      return tracing().splat(0, Shape(std::move(result)), y.dtype());
    // In row-major order the elements are columns + 1 apart.
    const int64_t rank = shape.rank(), length = (count - 1) * (columns + 1) + 1;
    flat.push_back(count * columns);
    Value run = cut(reshape(cut(y, rank - 2, row, row + count), Shape(flat)), rank - 2, column, column + length);
    std::vector<int64_t> rest = dims, split = result;
    rest.push_back(columns);
    split.push_back(columns + 1);
    run = concatenate({run, tracing().splat(0, Shape(std::move(rest)), y.dtype())}, rank - 2);
    return reshape(cut(reshape(run, Shape(std::move(split))), rank - 1, 0, 1), Shape(std::move(result)));
  });
}
std::vector<Value> meshgrid(const Values &xs, const Choice<GridIndexing> &indexing) {
  const List inputs(xs.begin(), xs.end());
  if (std::ranges::any_of(inputs, isSymbolic))
    return recordOperations("Meshgrid", inputs, configOf("indexing", std::string(indexing.word())));
  return apply("meshgrid", inputs, [indexing](const List &v) {
    std::vector<int64_t> dims;
    for (const Value &x : v) {
      if (x.rank() != 1)
        throw Error(ErrorKind::value_error, fmt::format("meshgrid of shape {}; expected vectors", x.shape().str()));
      dims.push_back(x.shape()[0]);
    }
    const bool isExchanged = indexing == GridIndexing::xy && v.size() > 1;
    if (isExchanged)
      std::swap(dims[0], dims[1]);
    List grids;
    for (size_t i = 0; i < v.size(); ++i) {
      const size_t axis = isExchanged && i < 2 ? 1 - i : i;
      grids.push_back(tracing().broadcast(v[i], Shape(dims), {static_cast<int64_t>(axis)}));
    }
    return grids;
  });
}
Value moveaxis(const Value &x, const Axes &source, const Axes &destination) {
  return applyOne(
      "moveaxis", {x},
      [from = source.list(), to = destination.list()](const List &v) {
        const int64_t rank = v[0].rank();
        if (from.size() != to.size() || from.empty())
          throw Error(ErrorKind::value_error,
                      fmt::format("moveaxis: {} axes to {} positions; expected equally many, and at least one",
                                  from.size(), to.size()));
        const std::vector<int64_t> moved = normalizeAxes("moveaxis", from, rank);
        normalizeAxes("moveaxis", to, rank); // refuses an axis that is given twice
        std::vector<std::pair<int64_t, int64_t>> positions;
        for (size_t i = 0; i < from.size(); ++i)
          positions.emplace_back(normalizeAxis("moveaxis", to[i], rank), normalizeAxis("moveaxis", from[i], rank));
        std::sort(positions.begin(), positions.end());
        std::vector<int64_t> permutation;
        for (int64_t axis = 0; axis < rank; ++axis)
          if (!std::binary_search(moved.begin(), moved.end(), axis))
            permutation.push_back(axis);
        for (auto [position, axis] : positions)
          permutation.insert(permutation.begin() + position, axis);
        return tracing().transpose(v[0], permutation);
      },
      configForm("source", source, "destination", destination));
}

} // namespace halftone::ops
