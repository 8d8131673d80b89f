// DenseNet121: dense blocks, in which each layer reads the outputs of all preceding layers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/applications/Classifier.h"

namespace halftone::applications {
using namespace layers;

namespace {

Value activated(const Value &x, const std::string &norm, const std::string &relu) {
  return Activation("relu", {.name = relu})(BatchNormalization({.axis = 3, .epsilon = 1.001e-5, .name = norm})(x));
}

Value denseBlock(Value x, int64_t layers, const std::string &name) {
  constexpr int64_t growth = 32;
  for (int64_t i = 1; i <= layers; ++i) {
    const std::string layer = name + "_block" + std::to_string(i);
    Value y = activated(x, layer + "_0_bn", layer + "_0_relu");
    y = Conv2D(4 * growth, 1, {.use_bias = false, .name = layer + "_1_conv"})(y);
    y = activated(y, layer + "_1_bn", layer + "_1_relu");
    y = Conv2D(growth, 3, {.padding = "same", .use_bias = false, .name = layer + "_2_conv"})(y);
    x = Concatenate(3, {.name = layer + "_concat"})({x, y});
  }
  return x;
}

Value transition(const Value &x, const std::string &name) {
  Value y = activated(x, name + "_bn", name + "_relu");
  y = Conv2D(y.shape()[3] / 2, 1, {.use_bias = false, .name = name + "_conv"})(y);
  return AveragePooling2D(2, {.strides = 2, .name = name + "_pool"})(y);
}

} // namespace

Model DenseNet121(const ApplicationArgs &args) {
  const Value images = imagesOf(args, 224);
  Value x = ZeroPadding2D(3)(images);
  x = Conv2D(64, 7, {.strides = 2, .use_bias = false, .name = "conv1_conv"})(x);
  x = activated(x, "conv1_bn", "conv1_relu");
  x = ZeroPadding2D(1)(x);
  x = MaxPooling2D(3, {.strides = 2, .name = "pool1"})(x);
  x = transition(denseBlock(x, 6, "conv2"), "pool2");
  x = transition(denseBlock(x, 12, "conv3"), "pool3");
  x = transition(denseBlock(x, 24, "conv4"), "pool4");
  x = denseBlock(x, 16, "conv5");
  x = activated(x, "bn", "relu");
  x = pooledFeatures(x, args);
  if (args.include_top)
    x = Dense(args.classes, {.activation = args.classifier_activation, .name = "predictions"})(x);
  return modelOf(images, x, args.name.empty() ? "densenet121" : args.name);
}

} // namespace halftone::applications
