// ResNet50: stacks of residual blocks with three convolutions each.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/applications/Classifier.h"

namespace halftone::applications {
using namespace layers;

namespace {

Value normalizedActivation(const Value &x, const std::string &name) {
  return Activation("relu", {.name = name + "_relu"})(
      BatchNormalization({.axis = 3, .epsilon = 1.001e-5, .name = name + "_bn"})(x));
}

Value residualBlock(const Value &x, int64_t filters, int64_t stride, bool convolvesShortcut, const std::string &name) {
  const auto normalized = [&](const Value &v, const char *part) {
    return BatchNormalization({.axis = 3, .epsilon = 1.001e-5, .name = name + part})(v);
  };
  Value shortcut = x;
  if (convolvesShortcut)
    shortcut = normalized(Conv2D(4 * filters, 1, {.strides = stride, .name = name + "_0_conv"})(x), "_0_bn");
  Value y = Conv2D(filters, 1, {.strides = stride, .name = name + "_1_conv"})(x);
  y = normalizedActivation(y, name + "_1");
  y = Conv2D(filters, 3, {.padding = "same", .name = name + "_2_conv"})(y);
  y = normalizedActivation(y, name + "_2");
  y = normalized(Conv2D(4 * filters, 1, {.name = name + "_3_conv"})(y), "_3_bn");
  y = Add({.name = name + "_add"})({shortcut, y});
  return Activation("relu", {.name = name + "_out"})(y);
}

Value residualStack(Value x, int64_t filters, int64_t blocks, int64_t stride, const std::string &name) {
  for (int64_t block = 1; block <= blocks; ++block)
    x = residualBlock(x, filters, block == 1 ? stride : 1, block == 1, name + "_block" + std::to_string(block));
  return x;
}

} // namespace

Model ResNet50(const ApplicationArgs &args) {
  const Value images = imagesOf(args, 224);
  Value x = ZeroPadding2D(3, {.name = "conv1_pad"})(images);
  x = Conv2D(64, 7, {.strides = 2, .name = "conv1_conv"})(x);
  x = normalizedActivation(x, "conv1");
  x = ZeroPadding2D(1, {.name = "pool1_pad"})(x);
  x = MaxPooling2D(3, {.strides = 2, .name = "pool1_pool"})(x);
  x = residualStack(x, 64, 3, 1, "conv2");
  x = residualStack(x, 128, 4, 2, "conv3");
  x = residualStack(x, 256, 6, 2, "conv4");
  x = residualStack(x, 512, 3, 2, "conv5");
  x = pooledFeatures(x, args);
  if (args.include_top)
    x = Dense(args.classes, {.activation = args.classifier_activation, .name = "predictions"})(x);
  return modelOf(images, x, args.name.empty() ? "resnet50" : args.name);
}

} // namespace halftone::applications
