// MobileNetV2: inverted residual blocks of depthwise convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/applications/Classifier.h"
#include "halftone/Error.h"
#include <fmt/format.h>

namespace halftone::applications {
using namespace layers;

namespace {

Value batchNormalized(const Value &x, const std::string &name) {
  return BatchNormalization({.momentum = 0.999, .epsilon = 1e-3, .name = name})(x);
}
Value rectified(const Value &x, const std::string &name) { return ReLU({.max_value = 6.0, .name = name})(x); }

struct InvertedBlock {
  int64_t filters, stride, expansion, number;
};
Value invertedBlock(const Value &inputs, const InvertedBlock &block, double alpha) {
  const int64_t channels = inputs.shape()[3], filters = divisibleFilters(static_cast<double>(
                                                  static_cast<int64_t>(static_cast<double>(block.filters) * alpha)));
  const std::string prefix = block.number > 0 ? fmt::format("block_{}_", block.number) : "expanded_conv_";
  Value x = inputs;
  if (block.number > 0) {
    x = Conv2D(block.expansion * channels, 1, {.padding = "same", .use_bias = false, .name = prefix + "expand"})(x);
    x = rectified(batchNormalized(x, prefix + "expand_BN"), prefix + "expand_relu");
  }
  if (block.stride == 2)
    x = ZeroPadding2D(marginsFor(x, 3), {.name = prefix + "pad"})(x);
  x = DepthwiseConv2D(3, {.strides = block.stride,
                          .padding = block.stride == 1 ? Padding::same : Padding::valid,
                          .use_bias = false,
                          .name = prefix + "depthwise"})(x);
  x = rectified(batchNormalized(x, prefix + "depthwise_BN"), prefix + "depthwise_relu");
  x = Conv2D(filters, 1, {.padding = "same", .use_bias = false, .name = prefix + "project"})(x);
  x = batchNormalized(x, prefix + "project_BN");
  return channels == filters && block.stride == 1 ? Value(Add({.name = prefix + "add"})({inputs, x})) : x;
}

constexpr InvertedBlock blocks[] = {{16, 1, 1, 0},   {24, 2, 6, 1},  {24, 1, 6, 2},  {32, 2, 6, 3},   {32, 1, 6, 4},
                                    {32, 1, 6, 5},   {64, 2, 6, 6},  {64, 1, 6, 7},  {64, 1, 6, 8},   {64, 1, 6, 9},
                                    {96, 1, 6, 10},  {96, 1, 6, 11}, {96, 1, 6, 12}, {160, 2, 6, 13}, {160, 1, 6, 14},
                                    {160, 1, 6, 15}, {320, 1, 6, 16}};

/// The height in the model's name: 224, unless the images are square with a size for which Keras has weights.
int64_t defaultSizeOf(const MobileNetV2Args &args) {
  int64_t height = -1, width = -1;
  if (args.input_shape && args.input_shape->rank() == 3) {
    height = (*args.input_shape)[0];
    width = (*args.input_shape)[1];
  } else if (!args.input_shape && args.input_tensor && args.input_tensor->shape().rank() == 4) {
    height = args.input_tensor->shape()[1];
    width = args.input_tensor->shape()[2];
  }
  for (const int64_t size : {96, 128, 160, 192})
    if (height == size && width == size)
      return size;
  return 224;
}

} // namespace

Model MobileNetV2(const MobileNetV2Args &args) {
  constexpr double bound = 0x1p31; // keeps filter counts within 64 bits
  if (!(args.alpha > 0.0 && args.alpha < bound))
    throw Error(ErrorKind::value_error,
                fmt::format("alpha must be positive and below {1}, got {0}", args.alpha, bound));
  const ApplicationArgs shared{.include_top = args.include_top,
                               .input_tensor = args.input_tensor,
                               .input_shape = args.input_shape,
                               .pooling = args.pooling};
  const int64_t defaultSize = defaultSizeOf(args);
  const Value images = imagesOf(shared, defaultSize);
  Value x = Conv2D(divisibleFilters(32 * args.alpha), 3,
                   {.strides = {2, 2}, .padding = "same", .use_bias = false, .name = "Conv1"})(images);
  x = rectified(batchNormalized(x, "bn_Conv1"), "Conv1_relu");
  for (const InvertedBlock &block : blocks)
    x = invertedBlock(x, block, args.alpha);
  x = Conv2D(args.alpha > 1.0 ? divisibleFilters(1280 * args.alpha) : 1280, 1,
             {.use_bias = false, .name = "Conv_1"})(x);
  x = rectified(batchNormalized(x, "Conv_1_bn"), "out_relu");
  x = pooledFeatures(x, shared, {.average = "", .maximum = ""});
  if (args.include_top)
    x = Dense(args.classes, {.activation = args.classifier_activation, .name = "predictions"})(x);
  std::string name = args.name;
  if (name.empty()) { // contains the height of the Input
    const std::string height = args.input_shape   ? Shape{(*args.input_shape)[0]}.str()
                               : args.include_top ? Shape{defaultSize}.str()
                                                  : Shape{none}.str();
    name = fmt::format("mobilenetv2_{:.2f}_{}", args.alpha, height.substr(1, height.find(',') - 1));
  }
  return modelOf(images, x, name);
}

} // namespace halftone::applications
