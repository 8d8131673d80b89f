// GaussianNoise and GaussianDropout: additive and multiplicative Gaussian noise.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/RandomNumbers.h"
#include "halftone/Ops.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class GaussianNoiseBody final : public BodyOf<GaussianNoiseOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (options_.stddev > 0.0) // as in Keras, a layer without draws has no random state
      state_ = addSeedState(context, options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (!context.training() || options_.stddev == 0.0)
      return x;
    return x + asDtype(normal(nextKey(state_), x.shape()) * options_.stddev, context.compute_dtype(), "random");
  }

private:
  Variable state_;
};

class GaussianDropoutBody final : public BodyOf<GaussianDropoutOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (options_.rate > 0.0)
      state_ = addSeedState(context, options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (!context.training() || options_.rate == 0.0)
      return x;
    const double deviation = std::sqrt(options_.rate / (1.0 - options_.rate));
    return x * asDtype(normal(nextKey(state_), x.shape()) * deviation + 1.0, context.compute_dtype(), "random");
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

GaussianDropout::GaussianDropout(double rate, const GaussianNoiseArgs &args, Where where)
    : Layer(std::make_unique<GaussianDropoutBody>(GaussianDropoutOptions{args, rate}), "GaussianDropout",
            layerArgs(args), where) {
  if (!(rate >= 0.0 && rate < 1.0)) // with 1 the deviation would be infinite
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value received for argument `rate`. Expected a float value of at least 0 and "
                            "below 1. Received: rate={}",
                            rate),
                name(), where);
}

} // namespace halftone::layers
