// MixUp and CutMix: mixes each image of a batch with another one in training, and the labels likewise.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomDistributions.h"
#include "frontend/layers/RandomImages.h"
#include "runtime/TensorAccess.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// Reshapes one number per image to a factor of x.
Value spread(const Value &number, const Value &x) {
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[0] = x.shape()[0];
  return ops::reshape(number, Shape(std::move(dims)));
}

template <class Options> class MixingBody : public BodyOf<Options> {
public:
  using BodyOf<Options>::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    state_ = addSeedState(context, this->options_.seed);
  }
  size_t most_inputs() const override { return 2; }
  /// Images, or images and labels.
  Values call(const Values &inputs, const CallContext &context) final {
    requireFloats("a layer that mixes images", context.compute_dtype());
    const Value x = asDtype(inputs[0], context.compute_dtype(), "layer input");
    const std::array<int64_t, 2> axes = imageAxes(x.shape(), this->options_.data_format);
    std::vector<Value> results(inputs.begin(), inputs.end());
    results[0] = x;
    requireLabels(inputs);
    if (context.training() && x.rank() == 4 && x.shape().elements() > 0) {
      const Mixture mixture = drawn(x, axes);
      results[0] = mixed(x, mixture);
      if (results.size() > 1)
        results[1] = mixedLabels(results[1], mixture);
    }
    return Values(results);
  }

protected:
  struct Mixture {
    Value others;  // the index of the other image
    Value own;     // the weight of the image itself; float32 (batch,)
    Value isOther; // the pixels from the other image; undefined if all are mixed
  };
  virtual Mixture drawn(const Value &x, const std::array<int64_t, 2> &axes) const = 0;
  Value permutation(int64_t batch) const { return ops::argsort(randomWords(nextKey(state_), Shape{batch}), 0); }
  Variable state_;

private:
  static Value mixed(const Value &x, const Mixture &mixture) {
    const Value others = ops::take(x, mixture.others, 0);
    if (mixture.isOther.defined())
      return ops::where(mixture.isOther, others, x);
    const Value own = asDtype(spread(mixture.own, x), x.dtype(), "random");
    return own * x + (1.0 - own) * others;
  }
  static Value mixedLabels(const Value &given, const Mixture &mixture) {
    const bool isWide = is_float(given.dtype()) && itemsize(given.dtype()) >= 4;
    const Value labels = isWide ? given : asDtype(given, DType::float32, "labels");
    const Value own = asDtype(spread(mixture.own, labels), labels.dtype(), "random");
    return own * labels + (1.0 - own) * ops::take(labels, mixture.others, 0);
  }
  static void requireLabels(const Values &inputs) {
    if (inputs.size() < 2)
      return;
    const Shape &images = inputs[0].shape(), &labels = inputs[1].shape();
    if (images.rank() == 4 && (labels.rank() == 0 || labels[0] != images[0]))
      throw Error(ErrorKind::value_error,
                  fmt::format("expected a row of labels for each image. Received: images.shape={}, labels.shape={}",
                              images.str(), labels.str()));
  }
};

class MixUpBody final : public MixingBody<MixUpOptions> {
  using MixingBody::MixingBody;
  Mixture drawn(const Value &x, const std::array<int64_t, 2> &) const override {
    const Shape shape{x.shape()[0]};
    const Value others = permutation(shape[0]);
    const Value alpha = tracing().splat(options_.alpha, shape, DType::float32);
    return {others, betaDraw(nextKey(state_), alpha, alpha), {}};
  }
};

class CutMixBody final : public MixingBody<CutMixOptions> {
  using MixingBody::MixingBody;
  Mixture drawn(const Value &x, const std::array<int64_t, 2> &axes) const override {
    const Shape shape{x.shape()[0]};
    const Value alpha = broadcastTo(uniformBetween(nextKey(state_), Shape(), boundsOf(options_.factor)) + 1e-6, shape);
    const Value side = ops::sqrt(1.0 - betaDraw(nextKey(state_), alpha, alpha));
    const Range wide = rangeOf(x, axes[1], side), tall = rangeOf(x, axes[0], side);
    const auto pixels = static_cast<double>(x.shape()[axes[0]]) * static_cast<double>(x.shape()[axes[1]]);
    const Value own = 1.0 - ops::reshape(wide.length * tall.length, shape) / pixels;
    return {permutation(shape[0]), own, broadcastTo(ops::logical_and(tall.holds, wide.holds), x.shape())};
  }

  /// The extent of the box along an axis, (batch, 1, 1, 1), and a mask of the indices inside.
  struct Range {
    Value length, holds;
  };
  Range rangeOf(const Value &x, int64_t axis, const Value &side) const {
    const auto extent = static_cast<double>(x.shape()[axis]);
    const Value length = spread(side, x) * extent;
    const Value start = uniform(nextKey(state_), length.shape()) * (extent - length), end = start + length;
    std::vector<int64_t> dims(4, 1);
    dims[static_cast<size_t>(axis)] = x.shape()[axis];
    const Value index = tracing().iota(axis, Shape(std::move(dims)), DType::float32);
    return {end - start, ops::logical_and(ops::greater_equal(index, start), ops::less(index, end))};
  }
};

} // namespace

/// The arguments of Keras's call with a dict.
static Config argumentsOfMixing() {
  return Config::parse(R"({"args": [{"images": {"input": 0}, "labels": {"input": 1}}], "kwargs": {}})");
}
std::array<Value, 2> ImageMixingLayer::operator()(const Value &images, const Value &labels,
                                                  const CallArgs &args) const {
  const std::vector<Value> both = impl_->call({images, labels}, args, {}, argumentsOfMixing());
  return {both[0], both[1]};
}
std::array<Tensor, 2> ImageMixingLayer::operator()(const Tensor &images, const Tensor &labels,
                                                   const CallArgs &args) const {
  const Tensors both = impl_->callOnData({images, labels}, args);
  return {both[0], both[1]};
}

MixUp::MixUp(double alpha, const MixUpArgs &args, Where where)
    : ImageMixingLayer(std::make_unique<MixUpBody>(MixUpOptions{args, alpha}), "MixUp", layerArgs(args), where) {
  if (!(alpha > 0.0 && std::isfinite(alpha)))
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `alpha` should be a number above 0. Received: alpha={}", alpha), name(), where);
}
CutMix::CutMix(const Factor &factor, const RandomImageArgs &args, Where where)
    : ImageMixingLayer(std::make_unique<CutMixBody>(CutMixOptions{args, keptFactor("CutMix", factor, 0.0, where)}),
                       "CutMix", layerArgs(args), where) {
  requireFactor(*this, "factor", factor, 0.0, LeastFactor::allowed, where);
}

} // namespace halftone::layers
