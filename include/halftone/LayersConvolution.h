// Convolutions over one, two or three spatial axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"

namespace halftone::layers {

struct ConvArgs {
  Integers strides = 1; // of every spatial axis, or one each; so are all sizes below
  Padding padding = Padding::valid;
  std::optional<DataFormat> data_format{};
  Integers dilation_rate = 1; // not together with strides
  int64_t groups = 1;         // each has channels and filters of its own
  ActivationArg activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  std::optional<int64_t> lora_rank{}; // enables LoRA when the layer is built, with enable_lora()'s initializers
  std::optional<double> lora_alpha{}; // none: the rank
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
using Conv1DArgs = ConvArgs;
using Conv2DArgs = ConvArgs;
using Conv3DArgs = ConvArgs;
/// activation(convolution(x, kernel) + bias): (batch, spatial axes.., channels) -> (batch, fewer places.., filters).
/// kernel (kernel_size.., channels / groups, filters), bias (filters,). value_error when no window fits in the input.
class HALFTONE_API Conv1D : public Layer {
public:
  Conv1D(int64_t filters, const Integers &kernel_size, const ConvArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); } // as it is stored, without LoRA's product
  Variable bias() const { return weight("bias"); }
  Variable lora_kernel_a() const { return weight("lora_kernel_a"); }
  Variable lora_kernel_b() const { return weight("lora_kernel_b"); }
};
class HALFTONE_API Conv2D : public Layer {
public:
  Conv2D(int64_t filters, const Integers &kernel_size, const ConvArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); } // as it is stored, without LoRA's product
  Variable bias() const { return weight("bias"); }
  Variable lora_kernel_a() const { return weight("lora_kernel_a"); }
  Variable lora_kernel_b() const { return weight("lora_kernel_b"); }
};
class HALFTONE_API Conv3D : public Layer {
public:
  Conv3D(int64_t filters, const Integers &kernel_size, const ConvArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); } // as it is stored, without LoRA's product
  Variable bias() const { return weight("bias"); }
  Variable lora_kernel_a() const { return weight("lora_kernel_a"); }
  Variable lora_kernel_b() const { return weight("lora_kernel_b"); }
};

struct ConvTransposeArgs {
  Integers strides = 1;
  Padding padding = Padding::valid;
  std::optional<Integers> output_padding{}; // places after the last window, fewer than strides
  std::optional<DataFormat> data_format{};
  Integers dilation_rate = 1;
  ActivationArg activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// activation(transposed convolution(x, kernel) + bias): the way back of a convolution with this kernel, which has the
/// shape (kernel_size.., filters, channels). With `same` each extent grows to extent * stride.
class HALFTONE_API Conv1DTranspose : public Layer {
public:
  Conv1DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args = {},
                  Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};
class HALFTONE_API Conv2DTranspose : public Layer {
public:
  Conv2DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args = {},
                  Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};
class HALFTONE_API Conv3DTranspose : public Layer {
public:
  Conv3DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args = {},
                  Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct DepthwiseConvArgs {
  Integers strides = 1;
  Padding padding = Padding::valid;
  int64_t depth_multiplier = 1;
  std::optional<DataFormat> data_format{};
  Integers dilation_rate = 1;
  ActivationArg activation{};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint depthwise_constraint{};
  Constraint bias_constraint{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Each channel convolved by itself: (batch, spatial axes.., channels) -> (batch, .., channels * depth_multiplier).
/// kernel (kernel_size.., channels, depth_multiplier), bias (channels * depth_multiplier,).
class HALFTONE_API DepthwiseConv1D : public Layer {
public:
  explicit DepthwiseConv1D(const Integers &kernel_size, const DepthwiseConvArgs &args = {},
                           Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};
class HALFTONE_API DepthwiseConv2D : public Layer {
public:
  explicit DepthwiseConv2D(const Integers &kernel_size, const DepthwiseConvArgs &args = {},
                           Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct SeparableConvArgs {
  Integers strides = 1;
  Padding padding = Padding::valid;
  std::optional<DataFormat> data_format{};
  Integers dilation_rate = 1;
  int64_t depth_multiplier = 1;
  ActivationArg activation{};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer{};
  Regularizer pointwise_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint depthwise_constraint{};
  Constraint pointwise_constraint{};
  Constraint bias_constraint{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// A depthwise convolution, then one of extent 1 that mixes the channels. depthwise_kernel (kernel_size.., channels,
/// depth_multiplier), pointwise_kernel (1.., channels * depth_multiplier, filters), bias (filters,).
class HALFTONE_API SeparableConv1D : public Layer {
public:
  SeparableConv1D(int64_t filters, const Integers &kernel_size, const SeparableConvArgs &args = {},
                  Where where = Where::current());
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};
class HALFTONE_API SeparableConv2D : public Layer {
public:
  SeparableConv2D(int64_t filters, const Integers &kernel_size, const SeparableConvArgs &args = {},
                  Where where = Where::current());
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};
} // namespace halftone::layers
