// Dense: activation(x @ kernel + bias).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DenseBody final : public BodyOf<DenseOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Shape &input = shapes.at(0);
    if (input.rank() < 2 || input[-1] < 0)
      throw Error(ErrorKind::value_error, fmt::format("Input of layer Dense is incompatible with the layer: expected "
                                                      "min_ndim=2 and a known last dimension, found shape {}",
                                                      input.str()));
    inputs_ = input[-1];
    kernel_ = context.add_weight({.shape = {inputs_, options_.units},
                                  .initializer = options_.kernel_initializer,
                                  .regularizer = options_.kernel_regularizer,
                                  .constraint = options_.kernel_constraint,
                                  .name = "kernel"});
    if (options_.use_bias)
      bias_ = context.add_weight({.shape = {options_.units},
                                  .initializer = options_.bias_initializer,
                                  .regularizer = options_.bias_regularizer,
                                  .constraint = options_.bias_constraint,
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
    if (options_.use_bias)
      y = y + bias_;
    return options_.activation(y);
  }

private:
  int64_t inputs_ = 0;
  Variable kernel_, bias_;
};

} // namespace

Dense::Dense(int64_t units, const DenseArgs &args, Where where)
    : Layer(std::make_unique<DenseBody>(DenseOptions{args, units}), "Dense", layerArgs(args), where) {
  if (units <= 0)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Received an invalid value for `units`, expected a positive integer. Received: units={}", units),
        name(), where);
}

} // namespace halftone::layers
