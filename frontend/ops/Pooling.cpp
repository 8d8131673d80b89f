// keras.ops on Values: pooling, and functions with custom gradients.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Windows.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// The config of the arguments in files.
Config configOfPool(const std::vector<int64_t> &pool_size, const PoolArgs &args) {
  Config config = configOf("pool_size", pool_size);
  setField(config, "strides", args.strides);
  setField(config, "padding", args.padding);
  setField(config, "data_format", args.data_format);
  return config;
}

/// `value` with the custom gradient `gradient` for the float `arguments`.
Value withGradient(const Value &value, const List &arguments, const std::function<Values(const Value &)> &gradient) {
  List floats;
  for (const Value &argument : arguments)
    if (is_float(argument.dtype()))
      floats.push_back(argument);
  if (floats.empty() || !is_float(value.dtype()))
    return value;
  return tracing().customGradient(value, floats, [&](const Value &upstream) {
    const Values given = gradient(upstream);
    if (given.size() != arguments.size())
      throw Error(ErrorKind::value_error,
                  fmt::format("custom_gradient: {} cotangents for {} arguments; expected one each", given.size(),
                              arguments.size()));
    List cotangents;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!is_float(arguments[i].dtype()))
        continue;
      if (given[i].shape() != arguments[i].shape())
        throw Error(ErrorKind::value_error,
                    fmt::format("custom_gradient: the cotangent of argument {} has shape {}; expected {}", i,
                                given[i].shape().str(), arguments[i].shape().str()));
      cotangents.push_back(asDtype(given[i], arguments[i].dtype(), "custom_gradient"));
    }
    return cotangents;
  });
}

/// A pool over channels-last images.
struct Pool {
  int64_t rank;
  std::vector<int64_t> extents, taps;
  Windows windows;

  int64_t tapCount() const { return extentProduct(taps); }
  /// Returns true if each element of the image is in exactly one window.
  bool tilesImage() const {
    for (size_t axis = 0; axis < taps.size(); ++axis)
      if (windows.steps.stride[axis] != taps[axis] || windows.steps.paddingLow[axis] != 0 ||
          extentProduct(windows.positions[axis], taps[axis]) != extents[axis])
        return false;
    return true;
  }
  /// The number of elements of the image in one phase along `axis`. All phases have the same number, so the last
  /// element may be out of range.
  int64_t positionsOfPhase(size_t axis) const {
    return extentSum(extents[axis], windows.steps.stride[axis] - 1) / windows.steps.stride[axis];
  }
  /// For each element of `shape`, whose `axes` are those of the taps, the number of taps after its own.
  Value countdown(const Shape &shape, DType dtype, const std::vector<int64_t> &axes) const {
    const Value last = tracing().splat(tapCount() - 1, Shape({tapCount()}), DType::int32);
    const Value left = tracing().binary("sub", last, tracing().iota(0, Shape({tapCount()}), DType::int32));
    return tracing().broadcast(tracing().reshape(asDtype(left, dtype, "max_pool"), Shape(taps)), shape, axes);
  }
  /// The axes of the taps in (n, places..., taps..., c).
  std::vector<int64_t> tapAxes() const {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < rank; ++axis)
      axes.push_back(1 + rank + axis);
    return axes;
  }
};

Pool poolOf(const char *op, const Value &image, const std::vector<int64_t> &pool_size, const PoolArgs &args) {
  const int64_t rank = image.rank() - 2;
  if (rank < 1 || rank > 3)
    throw Error(
        ErrorKind::value_error,
        fmt::format("{}: expected inputs with a batch axis, one to three spatial axes and channels; got shape {}", op,
                    image.shape().str()));
  const std::vector<int64_t> dims = image.shape().dims();
  Pool pool{rank, {dims.begin() + 1, dims.end() - 1}, perAxis(op, "pool_size", pool_size, rank), {}};
  if (args.padding == Padding::causal)
    throw Error(ErrorKind::value_error, fmt::format("{}: padding must be \"valid\" or \"same\"; got \"causal\"", op));
  pool.windows =
      detail::windowsOf(op,
                        {pool.extents, pool.taps, perAxis(op, "strides", args.strides.value_or(pool.taps), rank),
                         std::vector<int64_t>(static_cast<size_t>(rank), 1)},
                        args.padding);
  // The strides of a single window are irrelevant, but the code below counts the elements of a stride.
  for (size_t axis = 0; axis < pool.taps.size(); ++axis)
    if (pool.windows.positions[axis] == 1)
      pool.windows.steps.stride[axis] =
          std::min(pool.windows.steps.stride[axis], std::max<int64_t>(pool.extents[axis], 1));
  return pool;
}

/// The first largest tap of each window, by its position in the countdown.
Value winnersOf(const Pool &pool, const Value &seen, const Value &largest) {
  const Shape shape = seen.shape();
  std::vector<int64_t> kept;
  for (int64_t axis = 0; axis <= pool.rank; ++axis)
    kept.push_back(axis);
  kept.push_back(shape.rank() - 1);
  const Value whole = tracing().broadcast(largest, shape, kept);
  const auto compare = [&](ComparePredicate predicate, const Value &a, const Value &b) {
    return tracing().compare(predicate, a, b);
  };
  const Value isLargest = tracing().binary("or", compare(ComparePredicate::eq, seen, whole),
                                           compare(ComparePredicate::ne, seen, seen)); // NaN counts as the largest
  const Value positions = pool.countdown(shape, DType::int32, pool.tapAxes()),
              none = tracing().splat(-1, shape, DType::int32);
  constexpr int64_t maxByte = 256;
  const Value winners =
      tracing().reduce(ReduceKind::max, tracing().select(isLargest, positions, none), pool.tapAxes(), DType::int32);
  return pool.tapCount() <= maxByte ? asDtype(winners, DType::uint8, "max_pool") : winners;
}

/// An image with each spatial axis split in two: the index among `strides` neighbors, and the index within.
struct SplitAxes {
  Shape shape;
  std::vector<int64_t> positions, within; // axes: of n, the neighbors and c; of the index within
};

SplitAxes splitAxesOf(const Pool &pool, const Value &upstream, const std::vector<int64_t> &strides) {
  std::vector<int64_t> dims{upstream.shape()[0]};
  SplitAxes split{{}, {0}, {}};
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    split.positions.push_back(static_cast<int64_t>(dims.size()));
    split.within.push_back(split.positions.back() + 1);
    dims.insert(dims.end(), {pool.positionsOfPhase(axis), strides[axis]});
  }
  split.positions.push_back(static_cast<int64_t>(dims.size()));
  dims.push_back(upstream.shape()[-1]);
  split.shape = Shape(dims);
  return split;
}

/// Sends the cotangent of each window to its winner, if each element is in exactly one window.
Value gradientOfTiles(const Pool &pool, const Value &winners, const Value &upstream) {
  const SplitAxes split = splitAxesOf(pool, upstream, pool.taps);
  const auto ofWindow = [&](const Value &x) { return tracing().broadcast(x, split.shape, split.positions); };
  const Value isWinner = tracing().compare(ComparePredicate::eq, ofWindow(winners),
                                           pool.countdown(split.shape, winners.dtype(), split.within));
  return tracing().select(isWinner, ofWindow(upstream), tracing().splat(0, split.shape, upstream.dtype()));
}

/// A phase: the elements of an image along one axis at one offset modulo the stride. Only the taps first, first +
/// stride, ... read them.
struct Phase {
  int64_t first, taps; // the first tap, and the number of taps
  int64_t paddingLow;  // of the window, for the output positions that read the elements
};

Phase phaseOf(const Pool &pool, size_t axis, int64_t distance) {
  const int64_t stride = pool.windows.steps.stride[axis], offset = distance + pool.windows.steps.paddingLow[axis];
  const int64_t first = offset % stride;
  return {first, std::max<int64_t>(0, (pool.taps[axis] - first + stride - 1) / stride), -(offset / stride)};
}

/// The gradient of the elements of one phase along each axis: the sum of the cotangents of the windows that they won.
Value gradientOfPhases(const Pool &pool, const std::vector<Phase> &phases, const Value &winners,
                       const Value &upstream) {
  const auto rank = static_cast<size_t>(pool.rank);
  const std::vector<int64_t> ones(rank, 1);
  Trace::WindowSteps steps{ones, std::vector<int64_t>(rank, -1), {}, ones};
  std::vector<int64_t> positions, taps;
  for (size_t axis = 0; axis < rank; ++axis) {
    steps.paddingLow.push_back(phases[axis].paddingLow);
    positions.push_back(pool.positionsOfPhase(axis));
    taps.push_back(phases[axis].taps);
  }
  const auto seenBy = [&](const Value &x) { return tracing().window(x, steps, positions, taps, false); };
  const Value cotangents = seenBy(upstream), winner = seenBy(winners);
  const Shape shape = cotangents.shape();
  // The number of the pool's taps after each of these.
  Value follow = tracing().splat(pool.tapCount() - 1, Shape(taps), DType::int32);
  int64_t pitch = pool.tapCount();
  for (size_t axis = 0; axis < rank; ++axis) {
    pitch /= pool.taps[axis];
    const auto number = [&](int64_t value) { return tracing().splat(value, Shape(taps), DType::int32); };
    const Value steps = tracing().binary("mul", tracing().iota(static_cast<int64_t>(axis), Shape(taps), DType::int32),
                                         number(pool.windows.steps.stride[axis] * pitch));
    follow = tracing().binary("sub", follow, tracing().binary("add", steps, number(phases[axis].first * pitch)));
  }
  const Value own = tracing().broadcast(asDtype(follow, winners.dtype(), "max_pool"), shape, pool.tapAxes());
  const Value isWinner = tracing().compare(ComparePredicate::eq, winner, own);
  const Value given = tracing().select(isWinner, cotangents, tracing().splat(0, shape, upstream.dtype()));
  return tracing().reduce(ReduceKind::sum, given, pool.tapAxes(), upstream.dtype());
}

constexpr size_t maxTurns = 64; // each creates some twenty ops

/// For each axis, the offsets modulo the stride at which a tap reads elements: at most as many as taps, for any stride.
/// No axis has more than maxTurns + 1.
std::vector<std::vector<int64_t>> distancesOf(const Pool &pool) {
  std::vector<std::vector<int64_t>> distances(pool.taps.size());
  for (size_t axis = 0; axis < pool.taps.size(); ++axis) {
    const int64_t stride = pool.windows.steps.stride[axis], paddingLow = pool.windows.steps.paddingLow[axis];
    const int64_t most = std::min(static_cast<int64_t>(maxTurns) + 1, std::min(stride, pool.taps[axis]));
    for (int64_t first = 0; first < most; ++first)
      distances[axis].push_back(((first - paddingLow) % stride + stride) % stride);
    std::ranges::sort(distances[axis]);
  }
  return distances;
}

/// Returns true if each element of the image is at one of these offsets.
bool coverStrides(const Pool &pool, const std::vector<std::vector<int64_t>> &distances) {
  for (size_t axis = 0; axis < distances.size(); ++axis)
    if (std::ssize(distances[axis]) < pool.windows.steps.stride[axis])
      return false;
  return true;
}

/// The gradient by phases, interleaved along each axis: the result has the shape (n, positions, phases, ..., c), where
/// each axis of positions is followed by one of phases. Elements of phases without taps get 0.
Value gradientOfTurns(const Pool &pool, const std::vector<std::vector<int64_t>> &distances, const Value &winners,
                      const Value &upstream) {
  const SplitAxes split = splitAxesOf(pool, upstream, pool.windows.steps.stride);
  Value turns = coverStrides(pool, distances) ? Value() : tracing().splat(0, split.shape, upstream.dtype());
  std::vector<size_t> turn(distances.size(), 0); // per axis; the last one varies fastest
  for (size_t axis = turn.size(); axis > 0;) {
    std::vector<Phase> phases;
    Value isHere;
    for (size_t each = 0; each < turn.size(); ++each) {
      const int64_t distance = distances[each][turn[each]];
      phases.push_back(phaseOf(pool, each, distance));
      const Value own =
          tracing().compare(ComparePredicate::eq, tracing().iota(split.within[each], split.shape, DType::int32),
                            tracing().splat(distance, split.shape, DType::int32));
      isHere = isHere.defined() ? tracing().binary("and", isHere, own) : own;
    }
    const Value here =
        tracing().broadcast(gradientOfPhases(pool, phases, winners, upstream), split.shape, split.positions);
    turns = turns.defined() ? tracing().select(isHere, here, turns) : here;
    for (axis = turn.size(); axis > 0 && ++turn[axis - 1] == distances[axis - 1].size(); --axis)
      turn[axis - 1] = 0;
  }
  return turns;
}

/// The gradient of each element of the image: for each tap, finds the output position that reads the element, if any,
/// and sums the cotangents of the windows that the element won. This is a single step for any strides and taps, but
/// each element examines all taps.
Value gradientOfTaps(const Pool &pool, const Value &winners, const Value &upstream) {
  const auto seenBy = [&](const Value &x) {
    return tracing().window(x, inverse(pool.windows.steps), pool.extents, pool.taps, false);
  };
  const Value cotangents = seenBy(upstream), winner = seenBy(winners);
  const Shape shape = cotangents.shape();
  const Value isWinner =
      tracing().compare(ComparePredicate::eq, winner, pool.countdown(shape, winners.dtype(), pool.tapAxes()));
  const Value given = tracing().select(isWinner, cotangents, tracing().splat(0, shape, upstream.dtype()));
  return tracing().reduce(ReduceKind::sum, given, pool.tapAxes(), upstream.dtype());
}

/// Each element of the image gathers from the windows that contain it: it gets the cotangent of those in which it was
/// the largest.
Value maxPoolGradient(const Pool &pool, const Value &winners, const Value &upstream) {
  const std::vector<std::vector<int64_t>> distances = distancesOf(pool);
  size_t turns = 1;
  for (const std::vector<int64_t> &each : distances)
    turns = std::min(turns * each.size(), maxTurns + 1);
  if (!pool.tilesImage() && turns > maxTurns)
    return gradientOfTaps(pool, winners, upstream);
  const Value split = pool.tilesImage() ? gradientOfTiles(pool, winners, upstream)
                                        : gradientOfTurns(pool, distances, winners, upstream);
  std::vector<int64_t> whole{upstream.shape()[0]}, image = whole;
  for (size_t axis = 0; axis < pool.taps.size(); ++axis) {
    whole.push_back(extentProduct(pool.positionsOfPhase(axis), pool.windows.steps.stride[axis]));
    image.push_back(pool.extents[axis]);
  }
  whole.push_back(upstream.shape()[-1]);
  image.push_back(upstream.shape()[-1]);
  const Value all = tracing().reshape(split, Shape(whole));
  return whole == image ? all : tracing().slice(all, std::vector<int64_t>(image.size(), 0), Shape(image));
}

/// The number of elements of the image in each window, in float32, in the shape of the output positions.
Value countsOf(const Pool &pool) {
  const Shape shape(pool.windows.positions);
  Value counts;
  for (int64_t axis = 0; axis < pool.rank; ++axis) {
    const auto at = static_cast<size_t>(axis);
    const auto number = [&](int64_t value) { return tracing().splat(value, shape, DType::int32); };
    const Value begin = tracing().binary(
        "sub",
        tracing().binary("mul", tracing().iota(axis, shape, DType::int32), number(pool.windows.steps.stride[at])),
        number(pool.windows.steps.paddingLow[at]));
    const Value end =
        tracing().binary("minimum", tracing().binary("add", begin, number(pool.taps[at])), number(pool.extents[at]));
    const Value count = tracing().binary("sub", end, tracing().binary("maximum", begin, number(0)));
    counts = counts.defined() ? tracing().binary("mul", counts, count) : count;
  }
  return counts;
}

} // namespace

std::function<Value(const Values &)> custom_gradient(std::function<WithGradient(const Values &)> f) {
  if (!f)
    throw Error(ErrorKind::value_error, "custom_gradient() needs a function; received an empty one");
  return [f = std::move(f)](const Values &arguments) {
    return applyOne("custom_gradient", List(arguments.begin(), arguments.end()), [f](const List &v) {
      const WithGradient result = f(v);
      if (!result.gradient)
        throw Error(ErrorKind::value_error,
                    "custom_gradient: the function returned no gradient; expected a function of the "
                    "result's cotangent");
      return withGradient(result.value, v, result.gradient);
    });
  };
}

Value max_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("MaxPool", {inputs}, configOfPool(pool_size, args));
  return applyOne("max_pool", {inputs}, [pool_size, args](const List &v) {
    const Value image = channelsLast(v[0], args.data_format);
    const Pool pool = poolOf("max_pool", image, pool_size, args);
    const Value seen = tracing().window(image, pool.windows.steps, pool.windows.positions, pool.taps, true);
    const ReduceKind kind = image.dtype() == DType::bool_ ? ReduceKind::logical_or : ReduceKind::max;
    Value y = tracing().reduce(kind, seen, pool.tapAxes(), image.dtype());
    y = withGradient(y, {image}, [&](const Value &upstream) -> Values {
      return {maxPoolGradient(pool, winnersOf(pool, seen, y), upstream)};
    });
    return channelsBack(y, args.data_format);
  });
}

Value average_pool(const Value &inputs, const std::vector<int64_t> &pool_size, const PoolArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("AveragePool", {inputs}, configOfPool(pool_size, args));
  return applyOne("average_pool", {inputs}, [pool_size, args](const List &v) {
    const Value image = channelsLast(asFloat(v[0]), args.data_format);
    const Pool pool = poolOf("average_pool", image, pool_size, args);
    // The sum stays in float32 or wider until the division.
    const DType wide = itemsize(image.dtype()) < 4 ? DType::float32 : image.dtype();
    const Value seen = tracing().window(image, pool.windows.steps, pool.windows.positions, pool.taps, false);
    const Value sums = tracing().reduce(ReduceKind::sum, seen, pool.tapAxes(), wide);
    Value counts;
    if (args.padding == Padding::same) {
      std::vector<int64_t> axes;
      for (int64_t axis = 0; axis < pool.rank; ++axis)
        axes.push_back(1 + axis);
      counts = tracing().broadcast(asDtype(countsOf(pool), wide), sums.shape(), axes);
    } else {
      counts = tracing().splat(pool.tapCount(), sums.shape(), wide);
    }
    return channelsBack(asDtype(tracing().binary("div", sums, counts), image.dtype(), "average_pool"),
                        args.data_format);
  });
}

} // namespace halftone::ops
