// The convolutional networks of the timing benchmarks.
// SPDX-License-Identifier: Apache-2.0
#include "Convnets.h"
#include <functional>

namespace halftone::benchmarks {

namespace {

Model compiled(const std::string &policy, const Shape &image, double learningRate,
               const std::function<Value(const Value &)> &features) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const Input x(image);
  const Model model({x}, {layers::Dense(10)(features(x))});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::Adam(learningRate),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

} // namespace

Model convnet(const std::string &policy, const ConvnetArgs &args) {
  using namespace layers;
  return compiled(policy, {28, 28, 1}, args.learning_rate, [&](Value x) {
    x = MaxPooling2D(2)(Conv2D(32, 3, {.activation = "relu"})(x));
    x = MaxPooling2D(2)(Conv2D(64, 3, {.activation = "relu"})(x));
    return Dropout(args.dropout)(Flatten()(x));
  });
}

Model residualBlock(const std::string &policy, const ConvnetArgs &args) {
  using namespace layers;
  const auto normalized = [](const Value &x) {
    return BatchNormalization()(Conv2D(64, 3, {.padding = Padding::same, .use_bias = false})(x));
  };
  return compiled(policy, {56, 56, 64}, args.learning_rate, [&](const Value &x) {
    const Value y = normalized(Activation("relu")(normalized(x)));
    return GlobalAveragePooling2D()(Activation("relu")(Add()({y, x})));
  });
}

} // namespace halftone::benchmarks
