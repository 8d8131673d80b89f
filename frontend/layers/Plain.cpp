// Layers without weights: activations, shapes, rescaling, functions.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Layers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {

namespace {

using CallFunction = std::function<Value(const Value &, const CallContext &)>;
using ConfigFunction = std::function<void(Config &)>;

class PlainBody final : public detail::LayerBody {
public:
  PlainBody(CallFunction call, ConfigFunction config) : call_(std::move(call)), config_(std::move(config)) {}
  Values call(const Values &inputs, const CallContext &context) override { return call_(inputs[0], context); }
  void get_config(Config &config) const override {
    if (config_)
      config_(config);
  }

private:
  CallFunction call_;
  ConfigFunction config_;
};

std::unique_ptr<detail::LayerBody> plain(CallFunction call, ConfigFunction config = {}) {
  return std::make_unique<PlainBody>(std::move(call), std::move(config));
}
LayerArgs layerArgs(const PlainArgs &args) { return {.dtype = args.dtype, .name = args.name}; }

} // namespace

Activation::Activation(const ActivationArg &activation, const PlainArgs &args, Where where)
    : Layer(plain([activation](const Value &x, const CallContext &) { return activation(x); },
                  [activation](Config &config) { config.set("activation", activation.name()); }),
            "Activation", layerArgs(args), where) {}

ReLU::ReLU(const PlainArgs &args, Where where)
    : Layer(plain([](const Value &x, const CallContext &) { return ops::relu(x); }), "ReLU", layerArgs(args), where) {}

Softmax::Softmax(int64_t axis, const PlainArgs &args, Where where)
    : Layer(plain([axis](const Value &x, const CallContext &) { return ops::softmax(x, axis); },
                  [axis](Config &config) { config.set("axis", axis); }),
            "Softmax", layerArgs(args), where) {}

Flatten::Flatten(const PlainArgs &args, Where where)
    : Layer(plain([](const Value &x, const CallContext &) {
              Shape shape = x.shape();
              if (shape.rank() < 1)
                throw Error(ErrorKind::value_error, "Flatten needs an input with a batch dimension, got a scalar");
              int64_t rest = 1;
              for (int64_t i = 1; i < shape.rank(); ++i)
                rest *= shape[i];
              return ops::reshape(x, Shape{shape[0], rest});
            }),
            "Flatten", layerArgs(args), where) {}

Reshape::Reshape(const Shape &target_shape, const PlainArgs &args, Where where)
    : Layer(plain(
                [target_shape](const Value &x, const CallContext &) {
                  std::vector<int64_t> dims = target_shape.dims();
                  dims.insert(dims.begin(), x.shape()[0]);
                  return ops::reshape(x, Shape(dims));
                },
                [target_shape](Config &config) { config.set("target_shape", target_shape.str()); }),
            "Reshape", layerArgs(args), where) {}

Rescaling::Rescaling(double scale, double offset, const PlainArgs &args, Where where)
    : Layer(plain(
                [scale, offset](const Value &x, const CallContext &context) {
                  return ops::cast(x, context.compute_dtype()) * scale + offset;
                },
                [scale, offset](Config &config) {
                  config.set("scale", scale);
                  config.set("offset", offset);
                }),
            "Rescaling", layerArgs(args), where) {}

Lambda::Lambda(std::function<Value(const Value &)> function, const PlainArgs &args, Where where)
    : Layer(plain([function = std::move(function)](const Value &x, const CallContext &) { return function(x); }),
            "Lambda", layerArgs(args), where) {}

} // namespace halftone::layers
