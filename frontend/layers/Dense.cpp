// Dense: activation(x @ kernel + bias).
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Layers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {

namespace {

class DenseBody final : public detail::LayerBody {
public:
  DenseBody(int64_t units, DenseArgs args) : units_(units), args_(std::move(args)) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Shape &input = shapes.at(0);
    if (input.rank() < 2 || input[-1] < 0)
      throw Error(ErrorKind::value_error, fmt::format("Input of layer Dense is incompatible with the layer: expected "
                                                      "min_ndim=2 and a known last dimension, found shape {}",
                                                      input.str()));
    inputs_ = input[-1];
    kernel_ = context.add_weight({.shape = {inputs_, units_},
                                  .initializer = args_.kernel_initializer,
                                  .regularizer = args_.kernel_regularizer,
                                  .name = "kernel"});
    if (args_.use_bias)
      bias_ = context.add_weight({.shape = {units_},
                                  .initializer = args_.bias_initializer,
                                  .regularizer = args_.bias_regularizer,
                                  .name = "bias"});
  }
  Values call(const Values &inputs, const CallContext &) override {
    Value x = inputs[0];
    if (x.rank() < 2 || x.shape()[-1] != inputs_)
      throw Error(ErrorKind::value_error,
                  fmt::format("Input of layer Dense is incompatible with the layer: expected axis -1 of input shape to "
                              "have value {}, but received input with shape {}",
                              inputs_, x.shape().str()));
    Value y = ops::matmul(x, kernel_);
    if (args_.use_bias)
      y = y + bias_;
    return args_.activation(y);
  }
  void get_config(Config &config) const override {
    config.set("units", units_);
    config.set("activation", args_.activation.name());
    config.set("use_bias", args_.use_bias);
  }

private:
  int64_t units_, inputs_ = 0;
  DenseArgs args_;
  Variable kernel_, bias_;
};

} // namespace

Dense::Dense(int64_t units, const DenseArgs &args, Where where)
    : Layer(std::make_unique<DenseBody>(units, args), "Dense",
            {.activity_regularizer = args.activity_regularizer,
             .trainable = args.trainable,
             .dtype = args.dtype,
             .autocast = args.autocast,
             .name = args.name},
            where) {
  if (units <= 0)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Received an invalid value for `units`, expected a positive integer. Received: units={}", units),
        name(), where);
}

} // namespace halftone::layers
