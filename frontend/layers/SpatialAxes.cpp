// Spatial axes, and validation of arguments that refer to them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/SpatialAxes.h"
#include "frontend/ops/Windows.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

std::vector<int64_t> spatialAxes(int64_t count, DataFormat format) {
  std::vector<int64_t> axes(static_cast<size_t>(count));
  std::iota(axes.begin(), axes.end(), format == DataFormat::channels_first ? 2 : 1);
  return axes;
}

std::array<int64_t, 2> imageAxes(const Shape &input, DataFormat format) {
  requireImages(input);
  const int64_t rank = input.rank();
  const int64_t last = format == DataFormat::channels_first ? rank - 1 : rank - 2;
  return {last - 1, last};
}

void requireRank(const Shape &input, int64_t rank) {
  if (input.rank() != rank)
    throw Error(ErrorKind::value_error, fmt::format("Input 0 is incompatible with the layer: expected ndim={}, found "
                                                    "ndim={}. Full shape received: {}",
                                                    rank, input.rank(), input.str()));
}

Integers forEachAxis(const Integers &given, int64_t count) {
  if (given.list().size() != 1)
    return given;
  return Integers(std::vector<int64_t>(static_cast<size_t>(count), given.list()[0]));
}
Margins forEachAxis(const Margins &given, int64_t count) {
  if (given.list().size() != 1)
    return given;
  return Margins(std::vector<Margin>(static_cast<size_t>(count), given.list()[0]));
}

/// Formats a list as a Python tuple.
static std::string text(const std::vector<int64_t> &list) {
  return fmt::format("({}{})", fmt::join(list, ", "), list.size() == 1 ? "," : "");
}

void requireEntries(const Layer &layer, const char *argument, const Integers &value, int64_t count, int64_t least,
                    Where where) {
  const std::vector<int64_t> &list = value.list();
  const bool allFit = std::ranges::all_of(list, [&](int64_t entry) { return entry >= least; });
  if (std::ssize(list) == count && allFit)
    return;
  throw Error(ErrorKind::value_error,
              fmt::format("The `{0}` argument must be a tuple of {1} integers. Received {0}={2}{3}", argument, count,
                          text(list),
                          allFit ? "" : fmt::format(", with values that do not satisfy `value >= {}`", least)),
              layer.name(), where);
}

void requireEntries(const Layer &layer, const char *argument, const Margins &value, int64_t count, Where where) {
  std::string received;
  bool allFit = true;
  for (const Margin &margin : value.list()) {
    received += fmt::format("{}({}, {})", received.empty() ? "" : ", ", margin.before, margin.after);
    allFit &= margin.before >= 0 && margin.after >= 0;
  }
  if (std::ssize(value.list()) == count && allFit)
    return;
  throw Error(ErrorKind::value_error,
              fmt::format("`{0}` should have {1} elements{2}. Received: {0}=({3})", argument, count,
                          allFit ? "" : ", none of them negative", received),
              layer.name(), where);
}

void requirePositive(const Layer &layer, const char *argument, int64_t value, Where where) {
  if (value <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `{0}` should be a positive integer. Received: {0}={1}", argument, value),
                layer.name(), where);
}

} // namespace halftone::detail
