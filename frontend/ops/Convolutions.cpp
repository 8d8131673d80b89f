// keras.ops on Values: convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Windows.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

std::vector<int64_t> dimsOf(const Value &x, int64_t begin, int64_t end) {
  const std::vector<int64_t> dims = x.shape().dims();
  return {dims.begin() + begin, dims.begin() + end};
}

Shape shapeOf(std::initializer_list<std::vector<int64_t>> parts) {
  std::vector<int64_t> dims;
  for (const std::vector<int64_t> &part : parts)
    dims.insert(dims.end(), part.begin(), part.end());
  return Shape(dims);
}

/// Both operands of a convolution in one dtype, with the image in channels-last layout.
struct ConvOperands {
  Value image, kernel;
  int64_t rank; // spatial axes

  std::vector<int64_t> extents() const { return dimsOf(image, 1, 1 + rank); }
  std::vector<int64_t> taps() const { return dimsOf(kernel, 0, rank); }
  int64_t channels() const { return image.shape()[-1]; }
};

ConvOperands operandsOf(const char *op, const List &v, DataFormat format) {
  const int64_t rank = v[1].rank() - 2;
  if (rank < 1 || rank > 3 || v[0].rank() != rank + 2)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: expected inputs with a batch axis, one to three spatial axes and channels, and a "
                            "kernel with the same number of spatial axes and two more axes; got shapes {} and {}",
                            op, v[0].shape().str(), v[1].shape().str()));
  const DType dtype = v[0].dtype() == v[1].dtype() ? v[0].dtype() : result_type(v[0].dtype(), v[1].dtype());
  const auto numbers = [&](const Value &x) { return dtype == DType::bool_ ? asNumber(x) : asDtype(x, dtype); };
  return {channelsLast(numbers(v[0]), format), numbers(v[1]), rank};
}

Windows windowsOf(const char *op, const ConvOperands &operands, const ConvArgs &args) {
  const int64_t rank = operands.rank;
  return detail::windowsOf(op,
                           {operands.extents(), operands.taps(), perAxis(op, "strides", args.strides, rank),
                            perAxis(op, "dilation_rate", args.dilation_rate, rank)},
                           args.padding);
}

/// Convolves with a kernel (k..., g, c, f). Integers narrower than 32 bits are multiplied in int32, as in sums of
/// products of int8, and the result wraps.
Value convolve(const ConvOperands &operands, const Value &kernel, const Windows &windows) {
  Value image = operands.image, weights = kernel;
  const DType dtype = image.dtype();
  if (!is_float(dtype)) {
    const DType wide = itemsize(dtype) == 8 ? DType::int64 : DType::int32;
    image = asDtype(image, wide);
    weights = asDtype(weights, wide);
  }
  const int64_t groups = kernel.shape()[operands.rank], channels = kernel.shape()[operands.rank + 1];
  image = tracing().reshape(image, shapeOf({dimsOf(image, 0, 1 + operands.rank), {groups, channels}}));
  Value y = tracing().convolution(image, weights, windows.steps, windows.positions);
  y = tracing().reshape(y, shapeOf({dimsOf(y, 0, 1 + operands.rank), {extentProduct(groups, kernel.shape()[-1])}}));
  return asDtype(y, dtype);
}

/// The config of the arguments in files.
template <class Args> Config configOfArgs(const Args &args) {
  Config config;
  setField(config, "strides", args.strides);
  setField(config, "padding", args.padding);
  if constexpr (requires { args.output_padding; })
    setField(config, "output_padding", args.output_padding);
  setField(config, "data_format", args.data_format);
  setField(config, "dilation_rate", args.dilation_rate);
  return config;
}

/// Reshapes a kernel (k..., c, g * f) to (k..., g, c, f).
Value inGroups(const Value &kernel, int64_t groups) {
  const int64_t rank = kernel.rank() - 2, channels = kernel.shape()[rank], filters = kernel.shape()[-1] / groups;
  const std::vector<int64_t> taps = dimsOf(kernel, 0, rank);
  if (groups == 1)
    return tracing().reshape(kernel, shapeOf({taps, {1, channels, filters}}));
  std::vector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  order.insert(order.end(), {rank + 1, rank, rank + 2});
  return tracing().transpose(tracing().reshape(kernel, shapeOf({taps, {channels, groups, filters}})), order);
}

} // namespace

Value conv(const Value &inputs, const Value &kernel, const ConvArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("Conv", {inputs, kernel}, configOfArgs(args));
  return applyOne("conv", {inputs, kernel}, [args](const List &v) {
    const ConvOperands operands = operandsOf("conv", v, args.data_format);
    const int64_t channels = operands.channels(), own = operands.kernel.shape()[operands.rank],
                  filters = operands.kernel.shape()[-1];
    if (own == 0 ? channels != 0 : channels % own != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("conv: the number of input channels must be evenly divisible by kernel's in_channels; "
                              "got input channels {} and kernel in_channels {} (kernel shape {})",
                              channels, own, operands.kernel.shape().str()));
    const int64_t groups = own == 0 || channels == 0 ? 1 : channels / own;
    if (filters % groups != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("conv: the number of filters must be evenly divisible by the number of groups; got {} "
                              "filters and {} groups",
                              filters, groups));
    const Windows windows = windowsOf("conv", operands, args);
    const Value y = convolve(operands, inGroups(operands.kernel, groups), windows);
    return channelsBack(y, args.data_format);
  });
}

Value depthwise_conv(const Value &inputs, const Value &kernel, const ConvArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("DepthwiseConv", {inputs, kernel}, configOfArgs(args));
  return applyOne("depthwise_conv", {inputs, kernel}, [args](const List &v) {
    const ConvOperands operands = operandsOf("depthwise_conv", v, args.data_format);
    const int64_t channels = operands.channels(), multiplier = operands.kernel.shape()[-1];
    if (operands.kernel.shape()[operands.rank] != channels)
      throw Error(ErrorKind::value_error,
                  fmt::format("depthwise_conv: expected a kernel with {} channels, as the inputs have; got shape {}",
                              channels, operands.kernel.shape().str()));
    const Value weights = tracing().reshape(operands.kernel, shapeOf({operands.taps(), {channels, 1, multiplier}}));
    const Value y = convolve(operands, weights, windowsOf("depthwise_conv", operands, args));
    return channelsBack(y, args.data_format);
  });
}

Value separable_conv(const Value &inputs, const Value &depthwise_kernel, const Value &pointwise_kernel,
                     const ConvArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("SeparableConv", {inputs, depthwise_kernel, pointwise_kernel}, configOfArgs(args));
  const Value middle = depthwise_conv(inputs, depthwise_kernel, args);
  return conv(middle, pointwise_kernel, {.data_format = args.data_format});
}

namespace {

/// The extent of a transposed convolution's result along an axis of `extent`.
int64_t transposedExtent(int64_t extent, int64_t span, int64_t stride, bool isSame, std::optional<int64_t> more) {
  if (!isSame)
    return extentSum(extentSum(extentProduct(extent - 1, stride), span), more.value_or(std::max(span, stride) - span));
  return more ? extentSum(extentProduct(extent - 1, stride), span % 2 + *more) : extentProduct(extent, stride);
}

/// The windows, over the result's axes, of the convolution whose input gradient is the transposed convolution.
Windows windowsOf(const ConvOperands &operands, const ConvTransposeArgs &args) {
  const char *op = "conv_transpose";
  if (args.padding == Padding::causal)
    throw Error(ErrorKind::value_error, fmt::format("{}: padding must be \"valid\" or \"same\"; got \"causal\"", op));
  const int64_t rank = operands.rank;
  const std::vector<int64_t> strides = perAxis(op, "strides", args.strides, rank),
                             dilations = perAxis(op, "dilation_rate", args.dilation_rate, rank);
  std::vector<int64_t> more;
  if (args.output_padding)
    more = perAxis(op, "output_padding", *args.output_padding, rank, 0);
  Windows windows;
  windows.steps = {strides, dilations, {}, std::vector<int64_t>(static_cast<size_t>(rank), 1)};
  for (size_t axis = 0; axis < static_cast<size_t>(rank); ++axis) {
    const int64_t extent = operands.extents()[axis], taps = operands.taps()[axis], stride = strides[axis];
    const int64_t span = extentSum(extentProduct(taps - 1, dilations[axis]), 1);
    if (args.output_padding && more[axis] >= stride)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: output_padding must be less than strides; got {} and {}", op, more[axis], stride));
    const bool isSame = args.padding == Padding::same;
    const int64_t whole =
        transposedExtent(extent, span, stride, isSame, args.output_padding ? std::optional(more[axis]) : std::nullopt);
    if (extent < 1 || taps < 1 || whole < 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: inputs of shape {} and a kernel of shape {} give an empty result", op,
                              operands.image.shape().str(), operands.kernel.shape().str()));
    const int64_t total = std::max<int64_t>(extentSum(extentProduct(extent - 1, stride), span) - whole, 0);
    windows.steps.paddingLow.push_back(isSame ? total / 2 : 0);
    windows.positions.push_back(whole);
  }
  return windows;
}

} // namespace

Value conv_transpose(const Value &inputs, const Value &kernel, const ConvTransposeArgs &args) {
  if (isSymbolic(inputs))
    return recordOperation("ConvTranspose", {inputs, kernel}, configOfArgs(args));
  return applyOne("conv_transpose", {inputs, kernel}, [args](const List &v) {
    const ConvOperands operands = operandsOf("conv_transpose", v, args.data_format);
    const int64_t rank = operands.rank;
    if (operands.kernel.shape()[-1] != operands.channels())
      throw Error(ErrorKind::value_error, fmt::format("conv_transpose: expected a kernel with {} channels along its "
                                                      "last axis, as the inputs have; got shape {}",
                                                      operands.channels(), operands.kernel.shape().str()));
    Windows windows = windowsOf(operands, args);
    windows.steps = inverse(windows.steps);
    std::vector<int64_t> order;
    for (int64_t axis = 0; axis < rank; ++axis)
      order.push_back(axis);
    order.insert(order.end(), {rank + 1, rank});
    const Value transposed = tracing().transpose(operands.kernel, order); // (k..., channels, filters)
    return channelsBack(convolve(operands, inGroups(transposed, 1), windows), args.data_format);
  });
}

} // namespace halftone::ops
