// Dropout: a mask from counter-based random bits, so that nothing is stored and every device agrees.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/RandomSeeds.h"
#include "frontend/SeedState.h"
#include "frontend/layers/Fields.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DropoutBody final : public BodyOf<DropoutOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (options_.rate > 0.0) // as in Keras, a layer that draws nothing has no random state
      state_ = addSeedState(context, options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    const double rate = options_.rate;
    if (!context.training() || rate == 0.0)
      return x;
    const Shape maskShape = shapeOfMask(x.shape());
    Value bits = tracing().randomBits(nextKey(state_), maskShape);
    // An element is kept if its upper 24 bits, as a fraction, are at least `rate`.
    Value threshold = scalarLike(rate * 16777216.0, tracing().splat(0, maskShape, DType::float32));
    Value shift = scalarLike(8, bits);
    Value fraction = asDtype(tracing().binary("shr", bits, shift), DType::float32, "random");
    Value kept = tracing().compare(ComparePredicate::ge, fraction, threshold);
    if (maskShape != x.shape())
      kept = broadcastTo(kept, x.shape());
    Value scaled = rate == 1.0 ? ops::zeros_like(x) : x * (1.0 / (1.0 - rate));
    return ops::where(kept, scaled, ops::zeros_like(x));
  }

private:
  /// `noise_shape`, with the input's extents where it has none.
  Shape shapeOfMask(const Shape &input) const {
    if (!options_.noise_shape)
      return input;
    std::vector<int64_t> dims = options_.noise_shape->dims();
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0)
        dims[i] = input[static_cast<int64_t>(i)];
    return Shape(std::move(dims));
  }

  Variable state_;
};

} // namespace

Dropout::Dropout(double rate, const DropoutArgs &args, Where where)
    : Layer(std::make_unique<DropoutBody>(DropoutOptions{args, rate}), "Dropout", layerArgs(args), where) {
  if (!(rate >= 0.0 && rate <= 1.0))
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate={}",
            rate),
        name(), where);
  if (args.noise_shape)
    for (int64_t i = 0; i < args.noise_shape->rank(); ++i)
      if (int64_t dim = (*args.noise_shape)[i]; dim == 0 || dim < none)
        throw Error(ErrorKind::value_error,
                    fmt::format("Invalid value received for argument `noise_shape`. Expected all dimensions to be "
                                "positive integers or None. Received negative or zero value at index {}: {}",
                                i, dim),
                    name(), where);
}

} // namespace halftone::layers
