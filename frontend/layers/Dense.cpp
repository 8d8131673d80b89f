// Dense: activation(x @ kernel + bias).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
#include "frontend/layers/ProductKernel.h"
#include "frontend/layers/QuantizedModes.h"
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
    const ProductForm form{.labels = {.elided = EinsumLabels::left, .input = "a", .kernel = "ab", .output = "b"},
                           .isMatrix = true,
                           .kernelShape = {inputs_, options_.units},
                           .inputRank = input.rank()};
    kernel_.build(context, form,
                  {.shape = form.kernelShape,
                   .initializer = options_.kernel_initializer,
                   .regularizer = options_.kernel_regularizer,
                   .constraint = options_.kernel_constraint,
                   .name = "kernel"},
                  quantizationOf(context.layer().resolvedPolicy(), options_.quantization_config));
    if (options_.use_bias)
      bias_ = context.add_weight({.shape = {options_.units},
                                  .initializer = options_.bias_initializer,
                                  .regularizer = options_.bias_regularizer,
                                  .constraint = options_.bias_constraint,
                                  .name = "bias"});
    kernel_.buildScales(context);
  }
  bool quantizes(std::string_view mode) const override { return classQuantizes("Dense", mode); }
  void quantize(BuildContext &context, const QuantizationConfig &config) override {
    kernel_.quantize(context, config);
    options_.quantization_config = config;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (x.rank() < 2 || x.shape()[-1] != inputs_)
      throw Error(ErrorKind::value_error,
                  fmt::format("Input of layer Dense is incompatible with the layer: expected axis -1 of input shape to "
                              "have value {}, but received input with shape {}",
                              inputs_, x.shape().str()));
    Value y = kernel_.times(x, context);
    if (options_.use_bias)
      y = kernel_.addBias(y, bias_);
    return options_.activation(y);
  }

private:
  int64_t inputs_ = 0;
  ProductKernel kernel_;
  Variable bias_;
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
