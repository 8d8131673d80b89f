// Convolutions, pools and pads of files, with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"
#include "halftone/Policy.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

using Arguments = OperationArguments;
using Json = Arguments::Json;

namespace {

/// Keras takes "SAME" too, and its config keeps it so. The first word of a set is the default.
template <class E> Choice<E> wordOf(Arguments &a, const char *key) {
  if (a.isNull(key))
    return E{};
  std::string word = a.text(key);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return choice<E>(word);
}
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

// ---- Pads

namespace {

struct Sides {
  int64_t before, after;
};

/// Reads `pad_width` as a pair [before, after] for each axis. It may be one integer, or one pair, for all axes, or a list of
/// as many pairs as there are axes.
std::vector<Sides> sidesOf(const Json &widths, int64_t rank) {
  const auto refuse = [&]() {
    throw Error(
        ErrorKind::value_error,
        fmt::format("the operation Pad has `pad_width` = {}; expected integers from 0, a pair of them, or a pair "
                    "for each of the {} axes",
                    widths.dump(), rank));
  };
  const auto isCount = [](const Json &json) { return json.is_number_integer() && json.get<int64_t>() >= 0; };
  const auto sides = [&](const Json &json) -> Sides {
    if (isCount(json))
      return {json.get<int64_t>(), json.get<int64_t>()};
    if (!json.is_array() || json.empty() || json.size() > 2 || !std::ranges::all_of(json, isCount))
      refuse();
    return {json.front().get<int64_t>(), json.back().get<int64_t>()};
  };
  if (!widths.is_array() || (!widths.empty() && widths[0].is_number()))
    return {static_cast<size_t>(rank), sides(widths)};
  if (widths.size() != 1 && std::ssize(widths) != rank)
    refuse();
  std::vector<Sides> all;
  for (int64_t axis = 0; axis < rank; ++axis)
    all.push_back(sides(widths[widths.size() == 1 ? 0 : static_cast<size_t>(axis)]));
  return all;
}

/// The margins of one axis filled with `filler`, a scalar of x's dtype.
Value padded(const Value &x, int64_t axis, const Sides &sides, const Value &filler) {
  std::vector<Value> parts;
  const auto add = [&](int64_t extent) {
    std::vector<int64_t> dims = x.shape().dims();
    dims[static_cast<size_t>(axis)] = extent;
    if (extent > 0)
      parts.push_back(broadcastTo(filler, Shape(dims)));
  };
  add(sides.before);
  parts.push_back(x);
  add(sides.after);
  return tracing().concat(parts, axis);
}

/// Which element of an axis of `extent` stands at each place of the padded one, by NumPy's modes.
Value placesOf(const std::string &mode, int64_t extent, const Sides &sides) {
  const Shape shape{extentSum(extentSum(sides.before, extent), sides.after)};
  const auto number = [&](int64_t value) { return tracing().splat(value, shape, DType::int32); };
  const Value place = ops::subtract(tracing().iota(0, shape, DType::int32), number(sides.before));
  if (mode == "edge" || extent == 1)
    return ops::minimum(ops::maximum(place, number(0)), number(extent - 1));
  if (mode == "wrap")
    return ops::mod(place, number(extent));
  const int64_t period = mode == "reflect" ? 2 * (extent - 1) : 2 * extent;
  const Value within = ops::mod(place, number(period));
  return ops::minimum(within, ops::subtract(number(mode == "reflect" ? period : period - 1), within));
}

Value fillerOf(Arguments &a, const Value &x) {
  if (!a.has("constant_values")) {
    a.maybeValue("constant_values");
    return tracing().splat(0.0, Shape(), x.dtype());
  }
  const Operand filler = a.operand("constant_values");
  if (filler.is_number()) {
    requireHolds("the operation Pad", x.dtype(), filler.number());
    return tracing().splat(filler.number(), Shape(), x.dtype());
  }
  const Value &value = filler.value();
  if (value.shape().elements() != 1)
    throw Error(
        ErrorKind::not_implemented_error,
        fmt::format("the operation Pad has `constant_values` of shape {}; expected one number", value.shape().str()));
  return asDtype(tracing().reshape(value, Shape()), x.dtype(), "pad");
}

} // namespace

Values padOperation(Arguments &a) {
  Value x = a.value("x");
  const std::string mode = a.isNull("mode") ? "constant" : a.text("mode");
  const std::vector<Sides> sides = sidesOf(a.config("pad_width"), x.rank());
  constexpr std::string_view modes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
  if (std::ranges::find(modes, mode) == std::end(modes))
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("the operation Pad has `mode` = \"{}\"; expected \"constant\", \"edge\", \"reflect\", "
                            "\"symmetric\" or \"wrap\"",
                            mode));
  if (mode != "constant" && a.has("constant_values"))
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `constant_values` can only be provided when `mode == 'constant'`. Received: "
                            "mode={}",
                            mode));
  const Value filler = fillerOf(a, x);
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const Sides &own = sides[static_cast<size_t>(axis)];
    const int64_t extent = x.shape()[axis];
    if (own.before == 0 && own.after == 0)
      continue;
    if (mode != "constant" && extent == 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("can't extend empty axis {} using modes other than 'constant' or 'empty'", axis));
    x = mode == "constant" ? padded(x, axis, own, filler) : tracing().gather(x, placesOf(mode, extent, own), axis);
  }
  return x;
}

} // namespace halftone::detail
