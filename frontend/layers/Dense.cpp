// Dense: activation(x @ kernel + bias).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/ProductBody.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DenseBody final : public ProductBody<DenseOptions> {
public:
  explicit DenseBody(DenseOptions options) : ProductBody("Dense", std::move(options)) {}
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
    buildProduct(context, form, options_.use_bias ? std::optional(Shape{options_.units}) : std::nullopt);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = inputs[0];
    if (x.rank() < 2 || x.shape()[-1] != inputs_)
      throw Error(ErrorKind::value_error,
                  fmt::format("Input of layer Dense is incompatible with the layer: expected axis -1 of input shape to "
                              "have value {}, but received input with shape {}",
                              inputs_, x.shape().str()));
    return options_.activation(product_.call(x, context));
  }

private:
  int64_t inputs_ = 0;
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
