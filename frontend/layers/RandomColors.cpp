// RandomContrast and RandomBrightness: changes the colors of each image separately in training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomImages.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class RandomContrastBody final : public RandomImagesBody<RandomContrastOptions> {
  using RandomImagesBody::RandomImagesBody;
  Value changed(const Value &x, const std::array<int64_t, 2> &axes) const override {
    requireFloats("RandomContrast", x.dtype());
    const Bounds bounds = boundsOf(options_.factor);
    const Value drawn =
        uniformBetween(nextKey(state_), {x.shape()[0], 1, 1, 1}, {1.0 - bounds.lower, 1.0 + bounds.upper});
    const Value mean = ops::mean(ops::mean(x, axes[0], true), axes[1], true);
    return ops::clip((x - mean) * asDtype(drawn, x.dtype(), "random") + mean, options_.value_range[0],
                     options_.value_range[1]);
  }
};

class RandomBrightnessBody final : public RandomImagesBody<RandomBrightnessOptions> {
  using RandomImagesBody::RandomImagesBody;
  Value changed(const Value &x, const std::array<int64_t, 2> &) const override {
    requireFloats("RandomBrightness", x.dtype());
    const double least = options_.value_range[0], most = options_.value_range[1];
    const Value drawn = uniformBetween(nextKey(state_), {x.shape()[0], 1, 1, 1}, boundsOf(options_.factor));
    return ops::clip(x + asDtype(drawn * (most - least), x.dtype(), "random"), least, most);
  }
};

RandomColorArgs checked(const RandomColorArgs &args, const char *layer, Where where) {
  const bool areNumbers = std::ranges::none_of(args.value_range, [](double number) { return std::isnan(number); });
  if (args.value_range.size() != 2 || !areNumbers)
    throw Error(ErrorKind::value_error,
                fmt::format("The `value_range` argument should be a list of two numbers. Received: value_range=({})",
                            fmt::join(args.value_range, ", ")),
                layer, where);
  return args;
}
RandomColorArgs inOrder(RandomColorArgs args) {
  std::ranges::sort(args.value_range);
  return args;
}

} // namespace

RandomContrast::RandomContrast(const Factor &factor, const RandomColorArgs &args, Where where)
    : Layer(std::make_unique<RandomContrastBody>(RandomContrastOptions{
                checked(args, "RandomContrast", where), keptFactor("RandomContrast", factor, 0.0, where)}),
            "RandomContrast", layerArgs(args), where) {}

RandomBrightness::RandomBrightness(const Factor &factor, const RandomColorArgs &args, Where where)
    : Layer(
          std::make_unique<RandomBrightnessBody>(RandomBrightnessOptions{
              inOrder(checked(args, "RandomBrightness", where)), keptFactor("RandomBrightness", factor, -1.0, where)}),
          "RandomBrightness", layerArgs(args), where) {}

} // namespace halftone::layers
