// EfficientNetB0: inverted residual blocks with squeeze and excitation.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/applications/Classifier.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::applications {
using namespace layers;
using initializers::Distribution;
using initializers::FanMode;

namespace {

const Initializer &convolutionInitializer() {
  static const Initializer &made = *new Initializer(initializers::VarianceScaling(
      {.scale = 2.0, .mode = FanMode::fan_out, .distribution = Distribution::truncated_normal}));
  return made;
}

Value swish(const Value &x, const std::string &name) { return Activation("swish", {.name = name})(x); }
Value normalizedBy(const Value &x, const std::string &name) { return BatchNormalization({.axis = 3, .name = name})(x); }
Value convolved(const Value &x, int64_t filters, const std::string &name) {
  return Conv2D(filters, 1,
                {.padding = "same", .use_bias = false, .kernel_initializer = convolutionInitializer(), .name = name})(
      x);
}
Value gate(const Value &x, int64_t filters, const ActivationArg &activation, const std::string &name) {
  return Conv2D(
      filters, 1,
      {.padding = "same", .activation = activation, .kernel_initializer = convolutionInitializer(), .name = name})(x);
}

struct Stage {
  int64_t kernel, repeats, filtersIn, filtersOut, expansion, stride;
};
constexpr Stage stages[] = {{3, 1, 32, 16, 1, 1},  {3, 2, 16, 24, 6, 2},   {5, 2, 24, 40, 6, 2},  {3, 3, 40, 80, 6, 2},
                            {5, 3, 80, 112, 6, 1}, {5, 4, 112, 192, 6, 2}, {3, 1, 192, 320, 6, 1}};

/// A single block of a stage. `dropRate` drops the output of the whole block.
Value excitedBlock(const Value &inputs, const Stage &block, double dropRate, const std::string &name) {
  const int64_t filters = block.filtersIn * block.expansion;
  Value x = inputs;
  if (block.expansion != 1)
    x = swish(normalizedBy(convolved(x, filters, name + "expand_conv"), name + "expand_bn"),
              name + "expand_activation");
  if (block.stride == 2)
    x = ZeroPadding2D(marginsFor(x, block.kernel), {.name = name + "dwconv_pad"})(x);
  x = DepthwiseConv2D(block.kernel, {.strides = block.stride,
                                     .padding = block.stride == 2 ? Padding::valid : Padding::same,
                                     .use_bias = false,
                                     .depthwise_initializer = convolutionInitializer(),
                                     .name = name + "dwconv"})(x);
  x = swish(normalizedBy(x, name + "bn"), name + "activation");
  Value squeezed = GlobalAveragePooling2D({.name = name + "se_squeeze"})(x);
  squeezed = Reshape({1, 1, filters}, {.name = name + "se_reshape"})(squeezed);
  squeezed = gate(squeezed, std::max<int64_t>(1, block.filtersIn / 4), "swish", name + "se_reduce");
  squeezed = gate(squeezed, filters, "sigmoid", name + "se_expand");
  x = Multiply({.name = name + "se_excite"})({x, squeezed});
  x = normalizedBy(convolved(x, block.filtersOut, name + "project_conv"), name + "project_bn");
  if (block.stride != 1 || block.filtersIn != block.filtersOut)
    return x;
  if (dropRate > 0)
    x = Dropout(dropRate, {.noise_shape = Shape{none, 1, 1, 1}, .name = name + "drop"})(x);
  return Add({.name = name + "add"})({x, inputs});
}

Value allStages(Value x) {
  double count = 0.0;
  for (const Stage &stage : stages)
    count += static_cast<double>(stage.repeats);
  constexpr double dropRate = 0.2;
  double number = 0.0;
  for (size_t i = 0; i < std::size(stages); ++i) {
    Stage block = stages[i];
    for (int64_t j = 0; j < stages[i].repeats; ++j) {
      x = excitedBlock(x, block, dropRate * number++ / count,
                       fmt::format("block{}{}_", i + 1, static_cast<char>('a' + j)));
      block.stride = 1;
      block.filtersIn = block.filtersOut;
    }
  }
  return x;
}

} // namespace

Model EfficientNetB0(const ApplicationArgs &args) {
  const Value images = imagesOf(args, 224);
  Value x = Rescaling(1.0 / 255.0)(images);
  x = Normalization(3)(x);
  x = ZeroPadding2D(marginsFor(x, 3), {.name = "stem_conv_pad"})(x);
  x = Conv2D(32, 3,
             {.strides = 2,
              .padding = "valid",
              .use_bias = false,
              .kernel_initializer = convolutionInitializer(),
              .name = "stem_conv"})(x);
  x = swish(normalizedBy(x, "stem_bn"), "stem_activation");
  x = allStages(x);
  x = swish(normalizedBy(convolved(x, 1280, "top_conv"), "top_bn"), "top_activation");
  x = pooledFeatures(x, args);
  if (args.include_top) {
    x = Dropout(0.2, {.name = "top_dropout"})(x);
    x = Dense(args.classes, {.activation = args.classifier_activation,
                             .kernel_initializer = initializers::VarianceScaling(
                                 {.scale = 1.0 / 3.0, .mode = FanMode::fan_out, .distribution = Distribution::uniform}),
                             .name = "predictions"})(x);
  }
  return modelOf(images, x, args.name.empty() ? "efficientnetb0" : args.name);
}

} // namespace halftone::applications
