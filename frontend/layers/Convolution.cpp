// Conv, Conv..Transpose, DepthwiseConv and SeparableConv: activation(convolution + bias).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsConvolution.h"
#include "frontend/layers/Lora.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// The parts that depend on the family of the layer, selected by the type of its options: the weights and the
/// convolution itself.
struct KernelArgs {
  const char *name;
  Initializer initializer;
  Regularizer regularizer;
  Constraint constraint;
};

template <class Options> ops::ConvArgs convArgs(const Options &options) {
  return {options.strides.list(), options.padding, options.data_format, options.dilation_rate.list()};
}

template <class L> Value convolved(const Value &x, const ConvOptions<L> &options, const Values &kernels) {
  return ops::conv(x, kernels[0], convArgs(options));
}
template <class L> Value convolved(const Value &x, const ConvTransposeOptions<L> &options, const Values &kernels) {
  const ops::ConvArgs shared = convArgs(options);
  ops::ConvTransposeArgs args{.strides = shared.strides,
                              .padding = shared.padding,
                              .data_format = shared.data_format,
                              .dilation_rate = shared.dilation_rate};
  if (options.output_padding)
    args.output_padding = options.output_padding->list();
  return ops::conv_transpose(x, kernels[0], args);
}
template <class L> Value convolved(const Value &x, const DepthwiseConvOptions<L> &options, const Values &kernels) {
  return ops::depthwise_conv(x, kernels[0], convArgs(options));
}
template <class L> Value convolved(const Value &x, const SeparableConvOptions<L> &options, const Values &kernels) {
  return ops::separable_conv(x, kernels[0], kernels[1], convArgs(options));
}

/// The trailing dimensions of the kernels after kernel_size, and their arguments, for this number of input channels.
using Kernels = std::vector<std::pair<std::vector<int64_t>, KernelArgs>>;
template <class L> Kernels kernelsOf(const ConvOptions<L> &o, int64_t channels) {
  if (channels % o.groups != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("The number of input channels must be evenly divisible by the number of groups. Received "
                            "groups={}, but the input has {} channels.",
                            o.groups, channels));
  return {
      {{channels / o.groups, o.filters}, {"kernel", o.kernel_initializer, o.kernel_regularizer, o.kernel_constraint}}};
}
template <class L> Kernels kernelsOf(const ConvTransposeOptions<L> &o, int64_t channels) {
  return {{{o.filters, channels}, {"kernel", o.kernel_initializer, o.kernel_regularizer, o.kernel_constraint}}};
}
template <class L> Kernels kernelsOf(const DepthwiseConvOptions<L> &o, int64_t channels) {
  return {{{channels, o.depth_multiplier},
           {"kernel", o.depthwise_initializer, o.depthwise_regularizer, o.depthwise_constraint}}};
}
template <class L> Kernels kernelsOf(const SeparableConvOptions<L> &o, int64_t channels) {
  return {{{channels, o.depth_multiplier},
           {"depthwise_kernel", o.depthwise_initializer, o.depthwise_regularizer, o.depthwise_constraint}},
          {{extentProduct(channels, o.depth_multiplier), o.filters},
           {"pointwise_kernel", o.pointwise_initializer, o.pointwise_regularizer, o.pointwise_constraint}}};
}

template <class Options> class ConvolutionBody : public BodyOf<Options> {
public:
  using BodyOf<Options>::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Options &options = this->options_;
    const Shape &input = shapes.at(0);
    requireRank(input, rank() + 2);
    channels_ = input[channelAxis()];
    if (channels_ < 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("The channel dimension of the inputs should be defined and positive. The input_shape "
                              "received is {}, where axis {} is the channel dimension.",
                              input.str(), channelAxis()));
    const Kernels kernels = kernelsOf(options, channels_);
    requireWindows(input);
    kernels_.clear();
    for (const auto &[tail, args] : kernels) {
      std::vector<int64_t> dims = options.kernelSize.list();
      if (!kernels_.empty()) // the pointwise kernel
        std::ranges::fill(dims, 1);
      dims.insert(dims.end(), tail.begin(), tail.end());
      kernels_.push_back(context.add_weight({.shape = Shape(std::move(dims)),
                                             .initializer = args.initializer,
                                             .regularizer = args.regularizer,
                                             .constraint = args.constraint,
                                             .name = args.name}));
    }
    if (options.use_bias)
      bias_ = context.add_weight({.shape = {resultChannels()},
                                  .initializer = options.bias_initializer,
                                  .regularizer = options.bias_regularizer,
                                  .constraint = options.bias_constraint,
                                  .name = "bias"});
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = inputs[0];
    requireRank(x.shape(), rank() + 2);
    if (x.shape()[channelAxis()] != channels_)
      throw Error(ErrorKind::value_error,
                  fmt::format("Input 0 is incompatible with the layer: expected axis {} of input shape to have value "
                              "{}, but received input with shape {}",
                              channelAxis(), channels_, x.shape().str()));
    Value y = convolved(x, this->options_, kernels(context.compute_dtype()));
    if (this->options_.use_bias)
      y = y + bias(y);
    return this->options_.activation(y);
  }

protected:
  virtual Values kernels(DType /*compute*/) const { return std::vector<Value>(kernels_.begin(), kernels_.end()); }
  const std::vector<Variable> &kernelVariables() const { return kernels_; }

private:
  int64_t rank() const { return std::ssize(this->options_.kernelSize.list()); }
  bool isFirst() const { return this->options_.data_format == DataFormat::channels_first; }
  int64_t channelAxis() const { return isFirst() ? 1 : rank() + 1; }
  int64_t resultChannels() const {
    if constexpr (requires { this->options_.filters; })
      return this->options_.filters;
    else
      return extentProduct(channels_, this->options_.depth_multiplier);
  }
  Value bias(const Value &y) const {
    if (!isFirst())
      return bias_;
    std::vector<int64_t> dims(static_cast<size_t>(y.rank()) - 1, 1);
    dims[0] = resultChannels();
    return ops::reshape(bias_, Shape(std::move(dims)));
  }
  /// value_error if a window does not fit in the known extents.
  void requireWindows(const Shape &input) const {
    const Options &options = this->options_;
    const std::vector<int64_t> axes = spatialAxes(rank(), options.data_format);
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t least = 1;
      if constexpr (!requires { options.output_padding; })
        if (options.padding == Padding::valid)
          least = (options.kernelSize.list()[i] - 1) * options.dilation_rate.list()[i] + 1;
      if (const int64_t extent = input[axes[i]]; extent >= 0 && extent < least)
        throw Error(ErrorKind::value_error,
                    fmt::format("Computed output size would be zero or negative. Received inputs shape={}, of which "
                                "axis {} needs an extent of at least {} for kernel_size={}, dilation_rate={} and "
                                "padding={}",
                                input.str(), axes[i], least, options.kernelSize.list()[i],
                                options.dilation_rate.list()[i], options.padding.word()));
    }
  }

  int64_t channels_ = 0;
  std::vector<Variable> kernels_;
  Variable bias_;
};

/// A convolution that LoRA can adapt.
template <class Options> class AdaptableConvolutionBody final : public ConvolutionBody<Options>, public LoraBody {
public:
  explicit AdaptableConvolutionBody(Options options) : ConvolutionBody<Options>(withAlpha(std::move(options))) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    ConvolutionBody<Options>::build(context, shapes);
    if (this->options_.lora_rank)
      addDelta(context, *this->options_.lora_rank, {.lora_alpha = this->options_.lora_alpha});
  }
  const LowRankDelta &delta() const override { return delta_; }
  void merge(WeightValues &values) const override {
    Tensor &kernel = values.at(variable().impl().get());
    kernel = delta_.addedTo(kernel, values).astype(variable().dtype());
  }

protected:
  Values kernels(DType compute) const override {
    const Value kernel = variable();
    return {delta_.isOn() ? asDtype(kernel + delta_.value(), compute) : kernel};
  }
  AdaptedWeight adaptedWeight() const override {
    return {.name = "kernel",
            .variable = variable(),
            .shape = variable().shape(),
            .regularizer = this->options_.kernel_regularizer,
            .constraint = this->options_.kernel_constraint};
  }
  LowRankDelta &ownDelta() override { return delta_; }
  void noteLora(int64_t rank, double alpha) override {
    this->options_.lora_rank = rank;
    this->options_.lora_alpha = alpha;
  }

private:
  const Variable &variable() const { return this->kernelVariables()[0]; }
  LowRankDelta delta_;
};

/// Expands each size to one entry per spatial axis.
template <class Options> Options standardized(Options options, int64_t rank) {
  options.kernelSize = forEachAxis(options.kernelSize, rank);
  options.strides = forEachAxis(options.strides, rank);
  options.dilation_rate = forEachAxis(options.dilation_rate, rank);
  if constexpr (requires { options.output_padding; })
    if (options.output_padding)
      options.output_padding = forEachAxis(*options.output_padding, rank);
  return options;
}
template <class Options> std::unique_ptr<LayerBody> convolution(const Options &options, int64_t rank) {
  if constexpr (requires { options.lora_rank; })
    return std::make_unique<AdaptableConvolutionBody<Options>>(standardized(options, rank));
  else
    return std::make_unique<ConvolutionBody<Options>>(standardized(options, rank));
}

/// Validates one layer's arguments, in Keras's order. Each failure is a value_error.
struct Check {
  const Layer &layer;
  int64_t rank;
  Where where;

  [[noreturn]] void refuse(const std::string &text) const {
    throw Error(ErrorKind::value_error, text, layer.name(), where);
  }
  void positive(const char *argument, int64_t value) const {
    if (value <= 0)
      refuse(fmt::format("Invalid value for argument `{0}`. Expected a strictly positive value. Received {0}={1}.",
                         argument, value));
  }
  template <class Options> void windows(const Options &options, bool allowsCausal = false) const {
    requireEntries(layer, "kernel_size", options.kernelSize, rank, 1, where);
    requireEntries(layer, "strides", options.strides, rank, 1, where);
    requireEntries(layer, "dilation_rate", options.dilation_rate, rank, 1, where);
    if (options.padding == Padding::causal && !allowsCausal)
      refuse("The `padding` argument must be one of {'valid', 'same'}. Received: causal");
  }
  template <class Options> void notBothWide(const Options &options) const {
    const auto &strides = options.strides.list(), &dilations = options.dilation_rate.list();
    if (std::ranges::max(strides) > 1 && std::ranges::max(dilations) > 1)
      refuse(fmt::format("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=({}) "
                         "and dilation_rate=({})",
                         fmt::join(strides, ", "), fmt::join(dilations, ", ")));
  }

  template <class L> void operator()(const ConvOptions<L> &options) const {
    windows(options, rank == 1);
    positive("filters", options.filters);
    if (options.groups <= 0)
      refuse(fmt::format("The number of groups must be a positive integer. Received: groups={}.", options.groups));
    if (options.filters % options.groups != 0)
      refuse(fmt::format("The number of filters must be evenly divisible by the number of groups. Received: groups={}, "
                         "filters={}.",
                         options.groups, options.filters));
    notBothWide(options);
  }
  template <class L> void operator()(const ConvTransposeOptions<L> &options) const {
    windows(options);
    positive("filters", options.filters);
    if (options.output_padding) {
      requireEntries(layer, "output_padding", *options.output_padding, rank, 0, where);
      for (size_t i = 0; i < options.strides.list().size(); ++i)
        if (options.output_padding->list()[i] >= options.strides.list()[i])
          refuse(fmt::format("`output_padding` must be strictly less than `strides` for all dimensions. Received: "
                             "output_padding=({}), strides=({})",
                             fmt::join(options.output_padding->list(), ", "), fmt::join(options.strides.list(), ", ")));
    }
    notBothWide(options);
  }
  template <class L> void operator()(const DepthwiseConvOptions<L> &options) const {
    windows(options);
    positive("depth_multiplier", options.depth_multiplier);
  }
  template <class L> void operator()(const SeparableConvOptions<L> &options) const {
    windows(options);
    positive("depth_multiplier", options.depth_multiplier);
    positive("filters", options.filters);
  }
};

template <class Options> void check(const Layer &layer, const Options &options, int64_t rank, Where where) {
  Check{layer, rank, where}(standardized(options, rank));
}

} // namespace

Conv1D::Conv1D(int64_t filters, const Integers &kernel_size, const ConvArgs &args, Where where)
    : Layer(convolution(ConvOptions<Conv1D>{args, filters, kernel_size}, 1), "Conv1D", layerArgs(args), where) {
  check(*this, ConvOptions<Conv1D>{args, filters, kernel_size}, 1, where);
}

Conv2D::Conv2D(int64_t filters, const Integers &kernel_size, const ConvArgs &args, Where where)
    : Layer(convolution(ConvOptions<Conv2D>{args, filters, kernel_size}, 2), "Conv2D", layerArgs(args), where) {
  check(*this, ConvOptions<Conv2D>{args, filters, kernel_size}, 2, where);
}

Conv3D::Conv3D(int64_t filters, const Integers &kernel_size, const ConvArgs &args, Where where)
    : Layer(convolution(ConvOptions<Conv3D>{args, filters, kernel_size}, 3), "Conv3D", layerArgs(args), where) {
  check(*this, ConvOptions<Conv3D>{args, filters, kernel_size}, 3, where);
}

Conv1DTranspose::Conv1DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args,
                                 Where where)
    : Layer(convolution(ConvTransposeOptions<Conv1DTranspose>{args, filters, kernel_size}, 1), "Conv1DTranspose",
            layerArgs(args), where) {
  check(*this, ConvTransposeOptions<Conv1DTranspose>{args, filters, kernel_size}, 1, where);
}

Conv2DTranspose::Conv2DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args,
                                 Where where)
    : Layer(convolution(ConvTransposeOptions<Conv2DTranspose>{args, filters, kernel_size}, 2), "Conv2DTranspose",
            layerArgs(args), where) {
  check(*this, ConvTransposeOptions<Conv2DTranspose>{args, filters, kernel_size}, 2, where);
}

Conv3DTranspose::Conv3DTranspose(int64_t filters, const Integers &kernel_size, const ConvTransposeArgs &args,
                                 Where where)
    : Layer(convolution(ConvTransposeOptions<Conv3DTranspose>{args, filters, kernel_size}, 3), "Conv3DTranspose",
            layerArgs(args), where) {
  check(*this, ConvTransposeOptions<Conv3DTranspose>{args, filters, kernel_size}, 3, where);
}

DepthwiseConv1D::DepthwiseConv1D(const Integers &kernel_size, const DepthwiseConvArgs &args, Where where)
    : Layer(convolution(DepthwiseConvOptions<DepthwiseConv1D>{args, kernel_size}, 1), "DepthwiseConv1D",
            layerArgs(args), where) {
  check(*this, DepthwiseConvOptions<DepthwiseConv1D>{args, kernel_size}, 1, where);
}

DepthwiseConv2D::DepthwiseConv2D(const Integers &kernel_size, const DepthwiseConvArgs &args, Where where)
    : Layer(convolution(DepthwiseConvOptions<DepthwiseConv2D>{args, kernel_size}, 2), "DepthwiseConv2D",
            layerArgs(args), where) {
  check(*this, DepthwiseConvOptions<DepthwiseConv2D>{args, kernel_size}, 2, where);
}

SeparableConv1D::SeparableConv1D(int64_t filters, const Integers &kernel_size, const SeparableConvArgs &args,
                                 Where where)
    : Layer(convolution(SeparableConvOptions<SeparableConv1D>{args, filters, kernel_size}, 1), "SeparableConv1D",
            layerArgs(args), where) {
  check(*this, SeparableConvOptions<SeparableConv1D>{args, filters, kernel_size}, 1, where);
}

SeparableConv2D::SeparableConv2D(int64_t filters, const Integers &kernel_size, const SeparableConvArgs &args,
                                 Where where)
    : Layer(convolution(SeparableConvOptions<SeparableConv2D>{args, filters, kernel_size}, 2), "SeparableConv2D",
            layerArgs(args), where) {
  check(*this, SeparableConvOptions<SeparableConv2D>{args, filters, kernel_size}, 2, where);
}

} // namespace halftone::layers
