// ConvLSTM1D, ConvLSTM2D and ConvLSTM3D: an LSTM with convolutions as products.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Recurrent.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// The arguments of the cell, for all spatial ranks.
struct ConvCellOptions : ConvLSTMArgs {
  int64_t filters = 0;
  std::vector<int64_t> kernelSize{}, stridesOf{}, dilations{};
};

class ConvLSTMBody final : public CellOf<ConvCellOptions> {
public:
  using CellOf::CellOf;
  void get_config(Config &) const override {} // Keras does not export this cell: its layer has the arguments
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Shape &input = shapes.at(0);
    requireRank(input, rank() + 2);
    spatial_.clear();
    for (const int64_t axis : spatialAxes(rank(), options_.data_format))
      spatial_.push_back(input[axis]);
    if (std::ranges::any_of(spatial_, [](int64_t extent) { return extent < 0; }))
      throw Error(ErrorKind::value_error,
                  fmt::format("ConvLSTM layers only support static input shapes for the spatial "
                              "dimension. Received invalid input shape: input_shape={}",
                              input.str()));
    const int64_t channels = input[channelAxis()];
    if (channels < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("The channel dimension of the inputs should be defined. Found None. Full input shape "
                              "received: input_shape={}",
                              input.str()));
    requireWindows(input);
    setWeights(addCellWeights(
        context, options_,
        {.kernel = kernelShape(channels), .recurrent = kernelShape(options_.filters), .bias = {4 * options_.filters}},
        options_.unit_forget_bias ? withForgetOnes(options_.bias_initializer, options_.filters)
                                  : options_.bias_initializer));
  }
  std::vector<Shape> state_sizes() const override {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < spatial_.size(); ++i)
      dims.push_back(positions(i));
    dims.insert(isFirst() ? dims.begin() : dims.end(), options_.filters);
    return {Shape(dims), Shape(dims)};
  }
  Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &) override {
    std::vector<Value> z = products(x, masks.inputs, weights().kernel,
                                    {options_.stridesOf, options_.padding, options_.data_format, options_.dilations});
    const std::vector<Value> inner =
        products(states[0], masks.states, weights().recurrent, {{1}, Padding::same, options_.data_format});
    const std::vector<Value> bias = options_.use_bias ? ops::split(weights().bias, 4) : std::vector<Value>();
    for (size_t gate = 0; gate < z.size(); ++gate)
      z[gate] = (bias.empty() ? z[gate] : z[gate] + alongChannels(bias[gate])) + inner[gate];
    const Value i = options_.recurrent_activation(z[0]), f = options_.recurrent_activation(z[1]);
    const Value c = f * states[1] + i * options_.activation(z[2]);
    const Value h = options_.recurrent_activation(z[3]) * options_.activation(c);
    return {h, h, c};
  }

protected:
  int64_t inputMasks() const override { return 4; }
  int64_t stateMasks() const override { return 4; }

private:
  int64_t rank() const { return std::ssize(options_.kernelSize); }
  bool isFirst() const { return options_.data_format == DataFormat::channels_first; }
  int64_t channelAxis() const { return isFirst() ? 1 : rank() + 1; }
  Shape kernelShape(int64_t channels) const {
    std::vector<int64_t> dims = options_.kernelSize;
    dims.insert(dims.end(), {channels, 4 * options_.filters});
    return Shape(dims);
  }
  int64_t windowOf(size_t axis) const { return (options_.kernelSize[axis] - 1) * options_.dilations[axis] + 1; }
  /// The extent of a state along a spatial axis.
  int64_t positions(size_t axis) const {
    const int64_t extent = spatial_[axis], stride = options_.stridesOf[axis];
    const int64_t first = options_.padding == Padding::same ? extent : extent - windowOf(axis) + 1;
    return (first + stride - 1) / stride;
  }
  void requireWindows(const Shape &input) const {
    for (size_t i = 0; i < spatial_.size(); ++i)
      if (positions(i) <= 0)
        throw Error(ErrorKind::value_error,
                    fmt::format("Computed output size would be zero or negative. Received inputs shape={} and "
                                "kernel_size=({})",
                                input.str(), fmt::join(options_.kernelSize, ", ")));
  }
  Value alongChannels(const Value &bias) const {
    std::vector<int64_t> dims(static_cast<size_t>(rank()) + 2, 1);
    dims[static_cast<size_t>(channelAxis())] = options_.filters;
    return ops::reshape(bias, Shape(dims));
  }
  std::vector<Value> products(const Value &x, const std::vector<Value> &masks, const Value &kernel,
                              const ops::ConvArgs &args) const {
    return gateProducts(
        x, masks, kernel, 4, [&](const Value &a, const Value &b) { return ops::conv(a, b, args); }, channelAxis());
  }

  std::vector<int64_t> spatial_;
};

[[noreturn]] void refuse(const Layer &layer, Where where, const std::string &text) {
  throw Error(ErrorKind::value_error, text, layer.name(), where);
}

/// Validates the arguments, with Keras's messages.
void check(const Layer &layer, int64_t filters, const Integers &size, const ConvLSTMArgs &args, int64_t rank,
           Where where) {
  requirePositive(layer, "filters", filters, where);
  requireEntries(layer, "kernel_size", forEachAxis(size, rank), rank, 1, where);
  requireEntries(layer, "strides", forEachAxis(args.strides, rank), rank, 1, where);
  requireEntries(layer, "dilation_rate", forEachAxis(args.dilation_rate, rank), rank, 1, where);
  if (args.padding == Padding::causal)
    refuse(layer, where, "The `padding` argument must be one of {'valid', 'same'}. Received: causal");
  const auto &strides = args.strides.list(), &dilations = args.dilation_rate.list();
  if (std::ranges::max(strides) > 1 && std::ranges::max(dilations) > 1)
    refuse(
        layer, where,
        fmt::format("Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Please provide `strides=1` "
                    "or `dilation_rate=1`. Received: strides=({}) and dilation_rate=({})",
                    fmt::join(strides, ", "), fmt::join(dilations, ", ")));
}

class ConvLSTMCell : public Layer {
public:
  ConvLSTMCell(ConvCellOptions options, Where where)
      : Layer(std::make_unique<ConvLSTMBody>(options), "ConvLSTMCell",
              {.trainable = options.trainable,
               .dtype = options.dtype,
               .autocast = options.autocast,
               .name = "conv_lstm_cell"},
              where) {}
};

template <class L>
std::unique_ptr<LayerBody> convolving(int64_t filters, const Integers &size, const ConvLSTMArgs &args, int64_t rank,
                                      Where where) {
  ConvLSTMOptions<L> options{args, filters, forEachAxis(size, rank)};
  options.strides = forEachAxis(args.strides, rank);
  options.dilation_rate = forEachAxis(args.dilation_rate, rank);
  const ConvCellOptions cell{args, filters, options.kernelSize.list(), options.strides.list(),
                             options.dilation_rate.list()};
  return std::make_unique<RecurrentOf<ConvLSTMOptions<L>>>(ConvLSTMCell(cell, where), options, rank + 3);
}

} // namespace

ConvLSTM1D::ConvLSTM1D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args, Where where)
    : RNN(convolving<ConvLSTM1D>(filters, kernel_size, args, 1, where), "ConvLSTM1D", layerArgs(args), where) {
  check(*this, filters, kernel_size, args, 1, where);
}

ConvLSTM2D::ConvLSTM2D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args, Where where)
    : RNN(convolving<ConvLSTM2D>(filters, kernel_size, args, 2, where), "ConvLSTM2D", layerArgs(args), where) {
  check(*this, filters, kernel_size, args, 2, where);
}

ConvLSTM3D::ConvLSTM3D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args, Where where)
    : RNN(convolving<ConvLSTM3D>(filters, kernel_size, args, 3, where), "ConvLSTM3D", layerArgs(args), where) {
  check(*this, filters, kernel_size, args, 3, where);
}

} // namespace halftone::layers
