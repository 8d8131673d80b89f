// SpectralNormalization: divides a layer's kernel by an estimate of its largest singular value.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/graph/Variables.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Wrapped.h"
#include "halftone/Layers.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// Normalizes a row vector to length 1.
Value unit(const Value &row) {
  const Value squares = ops::sum(row * row, {}, true);
  return row * ops::rsqrt(ops::maximum(squares, 1e-14));
}

class SpectralBody final : public LayerBody {
public:
  SpectralBody(Layer layer, int64_t iterations) : layer_(std::move(layer)), iterations_(iterations) {}
  const Layer &layer() const { return layer_; }

  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    buildPart(context, layer_, shapes.at(0));
    const std::vector<Variable> &weights = layer_.impl()->weights;
    const auto found = std::ranges::find_if(weights, [](const Variable &variable) {
      return (variable.name() == "kernel" || variable.name() == "embeddings") && is_float(variable.impl()->dtype);
    });
    if (found == weights.end())
      throw Error(ErrorKind::value_error,
                  fmt::format("{} object has no attribute 'kernel' nor 'embeddings'", layer_.class_name()));
    kernel_ = *found;
    context.layer().weights.push_back(kernel_); // Keras's wrapper lists it among its own weights
    vector_ = context.add_weight({.shape = {1, kernel_.shape()[-1]},
                                  .initializer = initializers::TruncatedNormal({.stddev = 0.02}),
                                  .dtype = kernel_.impl()->dtype,
                                  .trainable = false,
                                  .autocast = false,
                                  .name = "vector_u"});
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = inputs[0];
    if (!context.training())
      return asDtype(layer_(x), x.dtype(), "layer output");
    const Value divided = dividedKernel();
    if (tracing().isCallOnData) // as in Keras, where training steps leave weights to the optimizer
      tracing().assign(kernel_.impl(), divided);
    const VariableOverride scope(kernel_, divided);
    return asDtype(layer_(x), x.dtype(), "layer output");
  }
  void get_config(Config &config) const override {
    config.set("layer", serializeAny(layer_));
    config.set("power_iterations", iterations_);
  }
  size_t most_inputs() const override { return 1; }

private:
  /// The normalized kernel; assigns the next estimate. A zero kernel and its estimate are unchanged.
  Value dividedKernel() const {
    const Value kernel = tracing().read(kernel_.impl(), kernel_.impl()->dtype);
    const Value fixed = ops::stop_gradient(kernel), last = tracing().read(vector_.impl(), vector_.impl()->dtype);
    const auto matrixOf = [&](const Value &value) { return ops::reshape(value, {-1, kernel_.shape()[-1]}); };
    const Value matrix = matrixOf(fixed);
    Value right = last, left;
    for (int64_t i = 0; i < iterations_; ++i) {
      left = unit(ops::matmul(right, ops::transpose(matrix)));
      right = unit(ops::matmul(left, matrix));
    }
    const Value sigma = ops::matmul(ops::matmul(left, matrixOf(kernel)), ops::transpose(right));
    const Value isZero = ops::all(ops::equal(fixed, 0.0));
    tracing().assign(vector_.impl(), ops::where(isZero, last, right));
    return kernel / ops::where(isZero, ops::ones_like(sigma), sigma);
  }

  Layer layer_;
  int64_t iterations_;
  Variable kernel_, vector_;
};

} // namespace

SpectralNormalization::SpectralNormalization(const Layer &layer, int64_t power_iterations, const LayerArgs &args,
                                             Where where)
    : Layer(std::make_unique<SpectralBody>(layer, power_iterations), "SpectralNormalization", args, where) {
  if (power_iterations <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("`power_iterations` should be greater than zero. Received: `power_iterations={}`",
                            power_iterations),
                name(), where);
}
Layer SpectralNormalization::layer() const { return dynamic_cast<SpectralBody &>(*impl_->body).layer(); }

} // namespace halftone::layers
