// Convolutions and pools in files, with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"

namespace halftone::detail {

using Arguments = OperationArguments;

namespace {

std::vector<int64_t> onesUnless(Arguments &a, const char *key) {
  return a.isNull(key) ? std::vector<int64_t>{1} : a.integers(key);
}
ops::ConvArgs convArgsOf(Arguments &a) {
  ops::ConvArgs args;
  args.strides = onesUnless(a, "strides");
  args.padding = wordOf<Padding>(a, "padding");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  args.dilation_rate = onesUnless(a, "dilation_rate");
  return args;
}
ops::PoolArgs poolArgsOf(Arguments &a) {
  ops::PoolArgs args;
  if (!a.isNull("strides"))
    args.strides = a.integers("strides");
  args.padding = wordOf<Padding>(a, "padding");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  return args;
}

} // namespace

Values convOperation(Arguments &a) {
  const Value inputs = a.value("inputs"), kernel = a.value("kernel");
  return ops::conv(inputs, kernel, convArgsOf(a));
}
Values depthwiseConvOperation(Arguments &a) {
  const Value inputs = a.value("inputs"), kernel = a.value("kernel");
  return ops::depthwise_conv(inputs, kernel, convArgsOf(a));
}
Values separableConvOperation(Arguments &a) {
  const Value inputs = a.value("inputs"), depthwise = a.value("depthwise_kernel"),
              pointwise = a.value("pointwise_kernel");
  return ops::separable_conv(inputs, depthwise, pointwise, convArgsOf(a));
}
Values convTransposeOperation(Arguments &a) {
  const Value inputs = a.value("inputs"), kernel = a.value("kernel");
  ops::ConvTransposeArgs args;
  args.strides = onesUnless(a, "strides");
  args.padding = wordOf<Padding>(a, "padding");
  if (!a.isNull("output_padding"))
    args.output_padding = a.integers("output_padding");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  args.dilation_rate = onesUnless(a, "dilation_rate");
  return ops::conv_transpose(inputs, kernel, args);
}
Values maxPoolOperation(Arguments &a) {
  const Value inputs = a.value("inputs");
  const std::vector<int64_t> size = a.integers("pool_size");
  return ops::max_pool(inputs, size, poolArgsOf(a));
}
Values averagePoolOperation(Arguments &a) {
  const Value inputs = a.value("inputs");
  const std::vector<int64_t> size = a.integers("pool_size");
  return ops::average_pool(inputs, size, poolArgsOf(a));
}

} // namespace halftone::detail
