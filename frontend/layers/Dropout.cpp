// Dropout of single elements, and of whole channels.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/RandomNumbers.h"
#include "frontend/layers/SpatialAxes.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// The shape of the mask for an input of `Dropout` or `AlphaDropout`: `noise_shape`, with the input's extents where it
/// has none.
Shape shapeOfMask(const DropoutArgs &options, const Shape &input) {
  if (!options.noise_shape)
    return input;
  std::vector<int64_t> dims = options.noise_shape->dims();
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0)
      dims[i] = input[static_cast<int64_t>(i)];
  return Shape(std::move(dims));
}
/// The mask shape with one element per channel and sample.
Shape channelMask(const Shape &input, int64_t spatial, DataFormat format) {
  requireRank(input, spatial + 2);
  std::vector<int64_t> dims = input.dims();
  for (int64_t axis : spatialAxes(spatial, format))
    dims[static_cast<size_t>(axis)] = 1;
  return Shape(std::move(dims));
}
Shape shapeOfMask(const SpatialDropout1DOptions &, const Shape &input) {
  return channelMask(input, 1, DataFormat::channels_last);
}
Shape shapeOfMask(const SpatialDropoutOptions<SpatialDropout2D> &options, const Shape &input) {
  return channelMask(input, 2, options.data_format);
}
Shape shapeOfMask(const SpatialDropoutOptions<SpatialDropout3D> &options, const Shape &input) {
  return channelMask(input, 3, options.data_format);
}

template <class Options> class DropoutBody : public BodyOf<Options> {
public:
  using BodyOf<Options>::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    if (this->options_.rate > 0.0) // as in Keras, a layer without draws has no random state
      state_ = addSeedState(context, this->options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = inputs[0];
    const Shape mask = shapeOfMask(this->options_, x.shape());
    if (!context.training() || this->options_.rate == 0.0)
      return x;
    return drop(x, mask);
  }

protected:
  virtual Value drop(const Value &x, const Shape &mask) {
    return dropped(x, this->options_.rate, mask, nextKey(state_));
  }
  const Variable &state() const { return state_; }

private:
  Variable state_;
};

/// Dropped elements become the minimum of SELU; then all are scaled and shifted to preserve mean and variance.
class AlphaDropoutBody final : public DropoutBody<AlphaDropoutOptions> {
public:
  using DropoutBody::DropoutBody;

protected:
  Value drop(const Value &x, const Shape &mask) override {
    constexpr double lowest = -1.6732632423543772 * 1.0507009873554805; // -alpha * scale of SELU
    const double rate = options_.rate, scale = 1.0 / std::sqrt((1.0 - rate) * (1.0 + rate * lowest * lowest));
    const Value draw = uniform(nextKey(state()), mask);
    const Value kept = broadcastTo(ops::greater_equal(draw, ops::full_like(draw, rate)), x.shape());
    return ops::where(kept, x, ops::full_like(x, lowest)) * scale - scale * lowest * rate;
  }
};

/// As in Keras, SpatialDropout takes none of the other arguments that all layers share.
template <class Options> class SpatialDropoutBody final : public DropoutBody<Options> {
public:
  using DropoutBody<Options>::DropoutBody;
  void get_config(Config &config) const override {
    Options now = this->options_;
    now.name = config.get_string("name");
    now.dtype = dtype_policies::deserialize(config.get_object("dtype"));
    config = Config();
    writeFields(config, now, layerFields<Options>);
  }
};

void requireMask(const Layer &layer, const DropoutArgs &args, Where where) {
  if (args.noise_shape)
    for (int64_t i = 0; i < args.noise_shape->rank(); ++i)
      if (int64_t dim = (*args.noise_shape)[i]; dim == 0 || dim < none)
        throw Error(ErrorKind::value_error,
                    fmt::format("Invalid value received for argument `noise_shape`. Expected all dimensions to be "
                                "positive integers or None. Received negative or zero value at index {}: {}",
                                i, dim),
                    layer.name(), where);
}
void requireRate(const Layer &layer, double rate, Where where, double refused = 2.0) {
  if (!(rate >= 0.0 && rate <= 1.0) || rate == refused)
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate={}",
            rate),
        layer.name(), where);
}

} // namespace

Dropout::Dropout(double rate, const DropoutArgs &args, Where where)
    : Layer(std::make_unique<DropoutBody<DropoutOptions>>(DropoutOptions{args, rate}), "Dropout", layerArgs(args),
            where) {
  requireRate(*this, rate, where);
  requireMask(*this, args, where);
}

AlphaDropout::AlphaDropout(double rate, const DropoutArgs &args, Where where)
    : Layer(std::make_unique<AlphaDropoutBody>(AlphaDropoutOptions{args, rate}), "AlphaDropout", layerArgs(args),
            where) {
  requireRate(*this, rate, where, 1.0); // with 1 no variance would be left
  requireMask(*this, args, where);
}

SpatialDropout1D::SpatialDropout1D(double rate, const SpatialDropout1DArgs &args, Where where)
    : Layer(std::make_unique<SpatialDropoutBody<SpatialDropout1DOptions>>(SpatialDropout1DOptions{args, rate}),
            "SpatialDropout1D", {.dtype = args.dtype, .name = args.name}, where) {
  requireRate(*this, rate, where);
}

SpatialDropout2D::SpatialDropout2D(double rate, const SpatialDropoutArgs &args, Where where)
    : Layer(std::make_unique<SpatialDropoutBody<SpatialDropoutOptions<SpatialDropout2D>>>(
                SpatialDropoutOptions<SpatialDropout2D>{args, rate}),
            "SpatialDropout2D", {.dtype = args.dtype, .name = args.name}, where) {
  requireRate(*this, rate, where);
}

SpatialDropout3D::SpatialDropout3D(double rate, const SpatialDropoutArgs &args, Where where)
    : Layer(std::make_unique<SpatialDropoutBody<SpatialDropoutOptions<SpatialDropout3D>>>(
                SpatialDropoutOptions<SpatialDropout3D>{args, rate}),
            "SpatialDropout3D", {.dtype = args.dtype, .name = args.name}, where) {
  requireRate(*this, rate, where);
}

} // namespace halftone::layers
