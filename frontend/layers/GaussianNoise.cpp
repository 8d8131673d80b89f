// GaussianNoise: normally distributed noise by Box and Muller's method, from counter-based random bits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/RandomNumbers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>
#include <numbers>

namespace halftone::layers {
using namespace detail;

namespace {

class GaussianNoiseBody final : public BodyOf<GaussianNoiseOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (options_.stddev > 0.0) // as in Keras, a layer that draws nothing has no random state
      state_ = addSeedState(context, options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (!context.training() || options_.stddev == 0.0)
      return x;
    // The first uniform draw is above 0, so its logarithm is finite.
    Value radius = ops::sqrt(ops::log(uniform(state_, x.shape(), 0.5)) * -2.0);
    Value noise = radius * ops::cos(uniform(state_, x.shape()) * (2.0 * std::numbers::pi));
    return x + asDtype(noise * options_.stddev, context.compute_dtype(), "random");
  }

private:
  Variable state_;
};

} // namespace

GaussianNoise::GaussianNoise(double stddev, const GaussianNoiseArgs &args, Where where)
    : Layer(std::make_unique<GaussianNoiseBody>(GaussianNoiseOptions{args, stddev}), "GaussianNoise", layerArgs(args),
            where) {
  if (!(stddev >= 0.0 && stddev <= 1.0))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                            "Received: stddev={}",
                            stddev),
                name(), where);
}

} // namespace halftone::layers
