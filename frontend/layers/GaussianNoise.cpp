// GaussianNoise: normally distributed noise by Box and Muller's method, from counter-based random bits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/SeedState.h"
#include "halftone/Layers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>
#include <numbers>

namespace halftone::layers {
using namespace detail;

namespace {

class GaussianNoiseBody final : public LayerBody {
public:
  GaussianNoiseBody(double stddev, std::optional<int64_t> seed) : stddev_(stddev), seed_(seed) {}
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (stddev_ > 0.0) // as in Keras, a layer that draws nothing has no random state
      state_ = addSeedState(context, seed_);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (!context.training() || stddev_ == 0.0)
      return x;
    // The first uniform draw is above 0, so its logarithm is finite.
    Value radius = ops::sqrt(ops::log(uniform(x.shape(), 0.5)) * -2.0);
    Value noise = radius * ops::cos(uniform(x.shape(), 0.0) * (2.0 * std::numbers::pi));
    return x + asDtype(noise * stddev_, context.compute_dtype(), "random");
  }
  void get_config(Config &config) const override {
    config.set("stddev", stddev_);
    if (seed_)
      config.set("seed", *seed_);
    else
      config.set_null("seed");
  }

private:
  /// float32 in [0, 1), in steps of 2^-24, shifted by `offset` steps.
  Value uniform(const Shape &shape, double offset) const {
    Value bits = tracing().randomBits(nextKey(state_), shape);
    Value upper = asDtype(tracing().binary("shr", bits, scalarLike(8, bits)), DType::float32, "random");
    return (offset == 0.0 ? upper : upper + offset) * (1.0 / 16777216.0);
  }

  double stddev_;
  std::optional<int64_t> seed_;
  Variable state_;
};

} // namespace

GaussianNoise::GaussianNoise(double stddev, const RandomLayerArgs &args, Where where)
    : Layer(std::make_unique<GaussianNoiseBody>(stddev, args.seed), "GaussianNoise",
            {.dtype = args.dtype, .name = args.name}, where) {
  if (!(stddev >= 0.0 && stddev <= 1.0))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                            "Received: stddev={}",
                            stddev),
                name(), where);
}

} // namespace halftone::layers
