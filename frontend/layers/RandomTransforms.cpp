// RandomRotation, RandomZoom and RandomShear: resamples each image of a batch separately in training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomImages.h"
#include "frontend/ops/ImageSampling.h"
#include "frontend/ops/Windows.h"
#include <algorithm>
#include <numbers>

namespace halftone::layers {
using namespace detail;

namespace {

/// One column of the transforms of a batch, (batch, 1).
Value columnOf(double number, int64_t batch) { return tracing().splat(number, Shape{batch, 1}, DType::float32); }

template <class Options> class RandomTransformBody : public RandomImagesBody<Options> {
public:
  using RandomImagesBody<Options>::RandomImagesBody;

private:
  /// Six of the eight coefficients of ops::image::affine_transform, each (batch, 1).
  virtual std::array<Value, 6> numbers(int64_t batch, int64_t height, int64_t width, DType compute) const = 0;

  Value changed(const Value &x, const std::array<int64_t, 2> &axes) const final {
    const int64_t batch = x.shape()[0];
    const std::array<Value, 6> six = numbers(batch, x.shape()[axes[0]], x.shape()[axes[1]], x.dtype());
    std::vector<Value> eight(six.begin(), six.end());
    eight.resize(8, columnOf(0.0, batch));
    const auto &options = this->options_;
    const Sampling sampling = samplingOf(options.interpolation, options.fill_mode, options.fill_value);
    const Value images = channelsLast(x, options.data_format);
    return channelsBack(transformed(images, ops::concatenate(eight, 1), sampling, false), options.data_format);
  }
};

class RandomRotationBody final : public RandomTransformBody<RandomRotationOptions> {
  using RandomTransformBody::RandomTransformBody;
  std::array<Value, 6> numbers(int64_t batch, int64_t height, int64_t width, DType) const override {
    const Bounds turn = boundsOf(options_.factor);
    const Value angle = uniformBetween(nextKey(state_), {batch, 1}, {turn.lower * 360.0, turn.upper * 360.0}) *
                        (std::numbers::pi / 180.0);
    const double x = 0.5 * static_cast<double>(width - 1), y = 0.5 * static_cast<double>(height - 1);
    const Value cosine = ops::cos(angle), sine = ops::sin(angle);
    return {cosine, -sine, x - x * cosine + y * sine, sine, cosine, y - x * sine - y * cosine};
  }
};

class RandomZoomBody final : public RandomTransformBody<RandomZoomOptions> {
  using RandomTransformBody::RandomTransformBody;
  std::array<Value, 6> numbers(int64_t batch, int64_t height, int64_t width, DType) const override {
    const Value tall = zoom(options_.heightFactor, batch);
    const Value wide = options_.widthFactor ? zoom(*options_.widthFactor, batch) : tall;
    const Value zero = columnOf(0.0, batch);
    return {wide, zero, (1.0 - wide) * (0.5 * static_cast<double>(width - 1)),
            zero, tall, (1.0 - tall) * (0.5 * static_cast<double>(height - 1))};
  }
  Value zoom(const Factor &factor, int64_t batch) const {
    const Bounds bounds = boundsOf(factor);
    return uniformBetween(nextKey(state_), {batch, 1}, {1.0 + bounds.lower, 1.0 + bounds.upper});
  }
};

class RandomShearBody final : public RandomTransformBody<RandomShearOptions> {
  using RandomTransformBody::RandomTransformBody;
  std::array<Value, 6> numbers(int64_t batch, int64_t, int64_t, DType compute) const override {
    const Value half = uniform(nextKey(state_), {batch, 1});
    const Value sign = ops::where(ops::greater(half, 0.5), columnOf(-1.0, batch), columnOf(1.0, batch));
    const Value y = slope(options_.yFactor, sign, compute), x = slope(options_.xFactor, sign, compute);
    const Value zero = columnOf(0.0, batch), one = columnOf(1.0, batch);
    return {one, x, zero, y, one, zero};
  }
  /// Rounded to the compute dtype, as Keras draws it.
  Value slope(const Factor &factor, const Value &sign, DType compute) const {
    const Value drawn = uniformBetween(nextKey(state_), sign.shape(), boundsOf(factor)) * sign;
    return is_float(compute) ? asDtype(asDtype(drawn, compute, "random"), DType::float32) : drawn;
  }
};

} // namespace

RandomRotation::RandomRotation(const Factor &factor, const RandomTransformArgs &args, Where where)
    : Layer(std::make_unique<RandomRotationBody>(
                RandomRotationOptions{args, keptFactor("RandomRotation", factor, -1.0, where)}),
            "RandomRotation", layerArgs(args), where) {
  requireTransform(*this, args.fill_mode, args.interpolation, where);
}

static std::unique_ptr<LayerBody> zoomBody(const Factor &height, const std::optional<Factor> &width,
                                           const RandomTransformArgs &args) {
  return std::make_unique<RandomZoomBody>(RandomZoomOptions{args, height, width});
}
static void requireZoom(const Layer &layer, const char *argument, const Factor &factor, const RandomTransformArgs &args,
                        Where where) {
  requireFactor(layer, argument, factor, -1.0, LeastFactor::excluded, where);
  requireTransform(layer, args.fill_mode, args.interpolation, where);
}
RandomZoom::RandomZoom(const Factor &height_factor, const RandomTransformArgs &args, Where where)
    : Layer(zoomBody(height_factor, {}, args), "RandomZoom", layerArgs(args), where) {
  requireZoom(*this, "height_factor", height_factor, args, where);
}
RandomZoom::RandomZoom(const Factor &height_factor, const Factor &width_factor, const RandomTransformArgs &args,
                       Where where)
    : Layer(zoomBody(height_factor, width_factor, args), "RandomZoom", layerArgs(args), where) {
  requireZoom(*this, "height_factor", height_factor, args, where);
  requireZoom(*this, "width_factor", width_factor, args, where);
}

/// Converts the bounds -f and f to f: Keras writes the former and reads only the latter.
static Factor shearFactor(const Factor &factor) {
  const std::vector<double> &list = factor.list();
  return list.size() == 2 && list[0] == -list[1] ? Factor(std::max(list[0], list[1])) : factor;
}
RandomShear::RandomShear(const Factor &x_factor, const Factor &y_factor, const RandomShearArgs &args, Where where)
    : Layer(std::make_unique<RandomShearBody>(RandomShearOptions{args, shearFactor(x_factor), shearFactor(y_factor)}),
            "RandomShear", layerArgs(args), where) {
  requireFactor(*this, "x_factor", shearFactor(x_factor), 0.0, LeastFactor::allowed, where);
  requireFactor(*this, "y_factor", shearFactor(y_factor), 0.0, LeastFactor::allowed, where);
  requireTransform(*this, args.fill_mode, args.interpolation, where);
}

} // namespace halftone::layers
