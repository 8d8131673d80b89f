// The arguments of convolutions as config keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"

namespace halftone::detail {

template <class LayerClass> struct ConvOptions : layers::ConvArgs {
  int64_t filters = 0;
  Integers kernelSize{};
  Layer layer() const { return LayerClass(filters, kernelSize, *this); }
};
template <class LayerClass> struct ConvTransposeOptions : layers::ConvTransposeArgs {
  int64_t filters = 0;
  Integers kernelSize{};
  Layer layer() const { return LayerClass(filters, kernelSize, *this); }
};
template <class LayerClass> struct DepthwiseConvOptions : layers::DepthwiseConvArgs {
  Integers kernelSize{};
  Layer layer() const { return LayerClass(kernelSize, *this); }
};
template <class LayerClass> struct SeparableConvOptions : layers::SeparableConvArgs {
  int64_t filters = 0;
  Integers kernelSize{};
  Layer layer() const { return LayerClass(filters, kernelSize, *this); }
};

/// Fields that several convolutions share, in their order.
template <class Options> constexpr std::tuple filtersField{Field{"filters", &Options::filters, Presence::required}};
template <class Options> constexpr std::tuple multiplierField{Field{"depth_multiplier", &Options::depth_multiplier}};
template <class Options>
constexpr std::tuple windowFields{ListField{"kernel_size", &Options::kernelSize, Presence::required},
                                  ListField{"strides", &Options::strides}, Field{"padding", &Options::padding}};
template <class Options>
constexpr std::tuple formatFields{Field{"data_format", &Options::data_format},
                                  ListField{"dilation_rate", &Options::dilation_rate}};
template <class Options>
constexpr std::tuple resultFields{Field{"activation", &Options::activation}, Field{"use_bias", &Options::use_bias}};
template <class Options>
constexpr std::tuple kernelFields{Field{"kernel_initializer", &Options::kernel_initializer},
                                  Field{"bias_initializer", &Options::bias_initializer},
                                  Field{"kernel_regularizer", &Options::kernel_regularizer},
                                  Field{"bias_regularizer", &Options::bias_regularizer},
                                  Field{"activity_regularizer", &Options::activity_regularizer},
                                  Field{"kernel_constraint", &Options::kernel_constraint},
                                  Field{"bias_constraint", &Options::bias_constraint}};

template <class LayerClass>
inline constexpr std::tuple layerFields<ConvOptions<LayerClass>> =
    std::tuple_cat(filtersField<ConvOptions<LayerClass>>, windowFields<ConvOptions<LayerClass>>,
                   formatFields<ConvOptions<LayerClass>>, std::tuple{Field{"groups", &layers::ConvArgs::groups}},
                   resultFields<ConvOptions<LayerClass>>, kernelFields<ConvOptions<LayerClass>>,
                   loraFields<layers::ConvArgs>);
template <class LayerClass>
inline constexpr std::tuple layerFields<ConvTransposeOptions<LayerClass>> =
    std::tuple_cat(filtersField<ConvTransposeOptions<LayerClass>>, windowFields<ConvTransposeOptions<LayerClass>>,
                   std::tuple{ListField{"output_padding", &layers::ConvTransposeArgs::output_padding}},
                   formatFields<ConvTransposeOptions<LayerClass>>, resultFields<ConvTransposeOptions<LayerClass>>,
                   kernelFields<ConvTransposeOptions<LayerClass>>);
template <class LayerClass>
inline constexpr std::tuple layerFields<DepthwiseConvOptions<LayerClass>> =
    std::tuple_cat(multiplierField<DepthwiseConvOptions<LayerClass>>, windowFields<DepthwiseConvOptions<LayerClass>>,
                   formatFields<DepthwiseConvOptions<LayerClass>>, resultFields<DepthwiseConvOptions<LayerClass>>,
                   std::tuple{Field{"depthwise_initializer", &layers::DepthwiseConvArgs::depthwise_initializer},
                              Field{"bias_initializer", &layers::DepthwiseConvArgs::bias_initializer},
                              Field{"depthwise_regularizer", &layers::DepthwiseConvArgs::depthwise_regularizer},
                              Field{"bias_regularizer", &layers::DepthwiseConvArgs::bias_regularizer},
                              Field{"activity_regularizer", &layers::DepthwiseConvArgs::activity_regularizer},
                              Field{"depthwise_constraint", &layers::DepthwiseConvArgs::depthwise_constraint},
                              Field{"bias_constraint", &layers::DepthwiseConvArgs::bias_constraint}});
template <class LayerClass>
inline constexpr std::tuple layerFields<SeparableConvOptions<LayerClass>> =
    std::tuple_cat(multiplierField<SeparableConvOptions<LayerClass>>, filtersField<SeparableConvOptions<LayerClass>>,
                   windowFields<SeparableConvOptions<LayerClass>>, formatFields<SeparableConvOptions<LayerClass>>,
                   resultFields<SeparableConvOptions<LayerClass>>,
                   std::tuple{Field{"depthwise_initializer", &layers::SeparableConvArgs::depthwise_initializer},
                              Field{"pointwise_initializer", &layers::SeparableConvArgs::pointwise_initializer},
                              Field{"bias_initializer", &layers::SeparableConvArgs::bias_initializer},
                              Field{"depthwise_regularizer", &layers::SeparableConvArgs::depthwise_regularizer},
                              Field{"pointwise_regularizer", &layers::SeparableConvArgs::pointwise_regularizer},
                              Field{"bias_regularizer", &layers::SeparableConvArgs::bias_regularizer},
                              Field{"activity_regularizer", &layers::SeparableConvArgs::activity_regularizer},
                              Field{"depthwise_constraint", &layers::SeparableConvArgs::depthwise_constraint},
                              Field{"pointwise_constraint", &layers::SeparableConvArgs::pointwise_constraint},
                              Field{"bias_constraint", &layers::SeparableConvArgs::bias_constraint}});

} // namespace halftone::detail
