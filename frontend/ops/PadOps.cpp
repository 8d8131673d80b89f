// keras.ops on Values: padding, also in the form of files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/OperationRows.h"
#include "frontend/ops/Operations.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;
using Json = nlohmann::ordered_json;
using Sides = PadWidth::Sides; // before and after

namespace {

/// Fills the margins of one axis with `filler`, a scalar of x's dtype.
Value filledUp(const Value &x, int64_t axis, const Sides &sides, const Value &filler) {
  List parts;
  const auto add = [&](int64_t extent) {
    std::vector<int64_t> dims = x.shape().dims();
    dims[static_cast<size_t>(axis)] = extent;
    if (extent > 0)
      parts.push_back(broadcastTo(filler, Shape(dims)));
  };
  add(sides.first);
  parts.push_back(x);
  add(sides.second);
  return tracing().concat(parts, axis);
}

/// The source index, in an axis of `extent`, of each element of the padded axis, by NumPy's modes.
Value sourcesOf(PadMode mode, int64_t extent, const Sides &sides) {
  const Shape shape{extentSum(extentSum(sides.first, extent), sides.second)};
  const auto number = [&](int64_t value) { return tracing().splat(value, shape, DType::int32); };
  const Value position = ops::subtract(tracing().iota(0, shape, DType::int32), number(sides.first));
  if (mode == PadMode::edge || extent == 1)
    return ops::minimum(ops::maximum(position, number(0)), number(extent - 1));
  if (mode == PadMode::wrap)
    return ops::mod(position, number(extent));
  const bool isReflect = mode == PadMode::reflect;
  const int64_t period = isReflect ? 2 * (extent - 1) : 2 * extent;
  const Value within = ops::mod(position, number(period));
  return ops::minimum(within, ops::subtract(number(isReflect ? period : period - 1), within));
}

/// A scalar of x's dtype.
Value fillerOf(const Value &x, const std::optional<Operand> &filler) {
  if (!filler || filler->is_number()) {
    const Number number = filler ? filler->number() : Number(0);
    requireHolds("pad", x.dtype(), number);
    return tracing().splat(number, Shape(), x.dtype());
  }
  const Value &value = filler->value();
  if (value.shape().elements() != 1)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("pad has `constant_values` of shape {}; expected one number", value.shape().str()));
  return asDtype(tracing().reshape(value, Shape()), x.dtype(), "pad");
}

Value padded(Value x, const std::vector<Sides> &widths, PadMode mode, const std::optional<Operand> &filler) {
  if (widths.size() != 1 && std::ssize(widths) != x.rank())
    throw Error(ErrorKind::value_error, fmt::format("pad: {} widths for shape {}; expected one, or one for each axis",
                                                    widths.size(), x.shape().str()));
  const Value fill = fillerOf(x, filler);
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const Sides &own = widths[widths.size() == 1 ? 0 : static_cast<size_t>(axis)];
    const int64_t extent = x.shape()[axis];
    if (own.first < 0 || own.second < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("pad: widths must not be negative, got {} and {}", own.first, own.second));
    if (own.first == 0 && own.second == 0)
      continue;
    if (mode != PadMode::constant && extent == 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("can't extend empty axis {} using modes other than 'constant' or 'empty'", axis));
    x = mode == PadMode::constant ? filledUp(x, axis, own, fill)
                                  : tracing().gather(x, sourcesOf(mode, extent, own), axis);
  }
  return x;
}

/// Records the call in the form of Keras's Pad.
Value recordPad(const Value &x, const PadWidth &width, const ops::PadArgs &args) {
  List inputs{x};
  Json arguments, config, widths = Json::array();
  arguments["args"] = Json::array({{{"input", 0}}});
  arguments["kwargs"]["constant_values"] = Json();
  if (args.constant_values && args.constant_values->is_number()) {
    arguments["kwargs"]["constant_values"] = ConfigAccess::json(args.constant_values->number());
  } else if (args.constant_values) {
    arguments["kwargs"]["constant_values"] = {{"input", 1}};
    inputs.push_back(args.constant_values->value());
  }
  for (const Sides &each : width.sides())
    widths.push_back({each.first, each.second});
  config["pad_width"] = std::move(widths);
  config["mode"] = args.mode.word();
  return callOperation("Pad", inputs, ConfigAccess::make(std::move(arguments)),
                       ConfigAccess::make(std::move(config)))[0];
}

} // namespace

namespace ops {

Value pad(const Value &x, const PadWidth &pad_width, const PadArgs &args) {
  if (args.mode != PadMode::constant && args.constant_values)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `constant_values` can only be provided when `mode == 'constant'`. Received: "
                            "mode={}",
                            args.mode.word()));
  const bool hasValue = args.constant_values && !args.constant_values->is_number();
  if (isSymbolic(x) || (hasValue && isSymbolic(args.constant_values->value())))
    return recordPad(x, pad_width, args);
  List inputs{x};
  if (hasValue)
    inputs.push_back(args.constant_values->value());
  return applyOne("pad", inputs, [pad_width, args, hasValue](const List &v) {
    return padded(v[0], pad_width.sides(), args.mode, hasValue ? std::optional<Operand>(v[1]) : args.constant_values);
  });
}

} // namespace ops

/// Reads `pad_width`: one integer or one pair for all axes, or a list with one pair per axis.
static PadWidth widthOf(const Json &widths, int64_t rank) {
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
    return PadWidth(std::vector<Sides>{sides(widths)});
  if (widths.size() != 1 && std::ssize(widths) != rank)
    refuse();
  std::vector<Sides> all;
  for (const Json &each : widths)
    all.push_back(sides(each));
  return PadWidth(std::move(all));
}

Values detail::padOperation(OperationArguments &a) {
  const Value x = a.value("x");
  const PadWidth width = widthOf(a.config("pad_width"), x.rank());
  ops::PadArgs args{.mode = wordOf<PadMode>(a, "mode")};
  if (a.has("constant_values"))
    args.constant_values = a.operand("constant_values");
  else
    a.maybeValue("constant_values");
  return ops::pad(x, width, args);
}

} // namespace halftone
