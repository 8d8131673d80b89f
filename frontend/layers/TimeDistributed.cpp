// TimeDistributed: applies a layer to each step of a sequence.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/HookScope.h"
#include "frontend/layers/Recurrent.h"
#include "frontend/layers/Wrapped.h"
#include "frontend/ops/Masks.h"
#include "halftone/Loops.h"
#include "halftone/Model.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class EachStepBody final : public LayerBody {
public:
  explicit EachStepBody(Layer layer) : layer_(std::move(layer)) {}
  const Layer &layer() const { return layer_; }

  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    requireSequence(shapes.at(0));
    buildPart(context, layer_, sliceShape(shapes.at(0)));
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = inputs[0], mask = maskOf(x);
    requireSequence(x.shape());
    requireMask(mask, x.shape());
    std::vector<Value> stacks{swapped(x)};
    if (mask.defined())
      stacks.push_back(swapped(mask));
    const auto step = [&](const Values &, const Values &slices) -> std::pair<Values, Values> {
      if (slices.size() > 1)
        slices[0].node()->mask = slices[1];
      return {Values(std::vector<Value>()), onlyOutput(layer_, called(slices[0], context))};
    };
    const auto [none, ys] = ops::scan(step, Values(std::vector<Value>()), Values(stacks));
    return swapped(ys[0]);
  }
  Value mask(const Values &, const std::vector<Value> &masks) override {
    return masks.empty() ? Value() : masks.front();
  }
  size_t most_inputs() const override { return 1; }
  void get_config(Config &config) const override { config.set("layer", serializeAny(layer_)); }

private:
  /// As in Keras, calls the layer's call() in the scope of this layer.
  Values called(const Value &slice, const CallContext &context) const {
    const HookScope scope(*layer_.impl(), {slice});
    return layer_.impl()->body->call(slice, CallContext(*layer_.impl(), context.training()));
  }
  static void requireSequence(const Shape &shape) {
    if (shape.rank() < 3)
      throw Error(ErrorKind::value_error,
                  fmt::format("`TimeDistributed` Layer should be passed an `input_shape` with at "
                              "least 3 dimensions, received: {}",
                              shape.str()));
  }
  static void requireMask(const Value &mask, const Shape &input) {
    if (!mask.defined())
      return;
    if (mask.rank() < 2)
      throw Error(ErrorKind::value_error,
                  fmt::format("The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., "
                              "`(batch_size, timesteps)`), but it has {} dimension(s) with shape {}.",
                              mask.rank(), mask.shape().str()));
    if (mask.shape()[0] != input[0] || mask.shape()[1] != input[1])
      throw Error(
          ErrorKind::value_error,
          fmt::format("The `mask` passed to the `TimeDistributed` layer has a shape {} that is incompatible with "
                      "the input shape {}. The first two dimensions of the mask (batch size and timesteps) must "
                      "match the input's first two dimensions. Expected mask shape prefix: ({}, {}).",
                      mask.shape().str(), input.str(), input[0], input[1]));
  }

  Layer layer_;
};

} // namespace

TimeDistributed::TimeDistributed(const Layer &layer, const LayerArgs &args, Where where)
    : Layer(std::make_unique<EachStepBody>(layer), "TimeDistributed", args, where) {}
Layer TimeDistributed::layer() const { return dynamic_cast<EachStepBody &>(*impl_->body).layer(); }

} // namespace halftone::layers
