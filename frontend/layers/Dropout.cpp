// Dropout: a mask from counter-based random bits, so that nothing is stored and every device agrees.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/RandomSeeds.h"
#include "frontend/SeedState.h"
#include "halftone/Layers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DropoutBody final : public LayerBody {
public:
  DropoutBody(double rate, std::optional<int64_t> seed) : rate_(rate), seed_(seed) {}
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (rate_ > 0.0) // as in Keras, a layer that draws nothing has no random state
      state_ = addSeedState(context, seed_);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (!context.training() || rate_ == 0.0)
      return x;
    Value bits = tracing().randomBits(nextKey(state_), x.shape());
    // An element is kept if its upper 24 bits, as a fraction, are at least `rate`.
    Value threshold = scalarLike(rate_ * 16777216.0, tracing().splat(0, x.shape(), DType::float32));
    Value shift = scalarLike(8, bits);
    Value fraction = asDtype(tracing().binary("shr", bits, shift), DType::float32, "random");
    Value kept = tracing().compare(ComparePredicate::ge, fraction, threshold);
    Value scaled = rate_ == 1.0 ? ops::zeros_like(x) : x * (1.0 / (1.0 - rate_));
    return ops::where(kept, scaled, ops::zeros_like(x));
  }
  void get_config(Config &config) const override {
    config.set("rate", rate_);
    if (seed_)
      config.set("seed", *seed_);
    else
      config.set_null("seed");
  }

private:
  double rate_;
  std::optional<int64_t> seed_;
  Variable state_;
};

} // namespace

Dropout::Dropout(double rate, const RandomLayerArgs &args, Where where)
    : Layer(std::make_unique<DropoutBody>(rate, args.seed), "Dropout", {.dtype = args.dtype, .name = args.name},
            where) {
  if (!(rate >= 0.0 && rate <= 1.0))
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate={}",
            rate),
        name(), where);
}

} // namespace halftone::layers
