// Validation of the factors of layers that change images randomly.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomImages.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

Bounds boundsOf(const Factor &factor) {
  const double first = factor.list().front(), second = factor.list().back();
  if (factor.list().size() == 1)
    return {-std::abs(first), std::abs(first)};
  return {std::min(first, second), std::max(first, second)};
}

Value uniformBetween(const Value &key, const Shape &shape, const Bounds &bounds) {
  return uniform(key, shape) * (bounds.upper - bounds.lower) + bounds.lower;
}

Factor keptFactor(const char *layer, const Factor &factor, double least, Where where) {
  const std::vector<double> &list = factor.list();
  const bool isOne = list.size() == 1;
  const bool fits = isOne ? list[0] >= least && list[0] <= 1.0
                          : list.size() == 2 && list[0] <= 1.0 && list[1] >= least && std::isfinite(list[0]) &&
                                std::isfinite(list[1]);
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("The `factor` argument should be a number (or a list of two numbers) in the range [{}, 1]. "
                            "Received: factor={}",
                            least, fmt::join(list, ", ")),
                layer, where);
  const Bounds bounds = boundsOf(factor);
  return {isOne ? std::max(bounds.lower, least) : bounds.lower, bounds.upper};
}

void requireFactor(const Layer &layer, const char *argument, const Factor &factor, double least, LeastFactor allows,
                   Where where) {
  const std::vector<double> &list = factor.list();
  const bool isAllowed = allows == LeastFactor::allowed;
  const bool allFit =
      std::ranges::all_of(list, [&](double part) { return (isAllowed ? part >= least : part > least) && part <= 1.0; });
  if ((list.size() != 1 && list.size() != 2) || !allFit)
    throw Error(
        ErrorKind::value_error,
        fmt::format("The `{0}` argument should be a number (or a list of two numbers) in the range {1}{2:.1f}, 1.0]. "
                    "Received: {0}={3}",
                    argument, isAllowed ? "[" : "(", least, fmt::join(list, ", ")),
        layer.name(), where);
}

void requireTransform(const Layer &layer, FillMode fillMode, Interpolation interpolation, Where where) {
  if (fillMode == FillMode::mirror)
    throw Error(ErrorKind::not_implemented_error,
                "Unknown `fill_mode` mirror. Expected of one ('reflect', 'wrap', 'constant', 'nearest').", layer.name(),
                where);
  if (interpolation != Interpolation::nearest && interpolation != Interpolation::bilinear)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("Unknown `interpolation` {}. Expected of one ('nearest', 'bilinear').",
                            Choice<Interpolation>(interpolation).word()),
                layer.name(), where);
}

void requireFloats(const char *layer, DType compute) {
  if (!is_float(compute))
    throw Error(ErrorKind::value_error,
                fmt::format("{} computes in floats. Received the compute dtype {}", layer, name(compute)));
}

} // namespace halftone::detail
