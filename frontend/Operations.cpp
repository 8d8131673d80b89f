// The table of operations that files can hold.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Operations.h"
#include "frontend/ClassNames.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <variant>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;
using Operand = std::variant<Value, double>;
using Unary = Value (*)(const Value &);
using Binary = Value (*)(const Operand &, const Operand &);
using Reduction = Value (*)(const Value &, const Axes &, bool);

/// Calls `f` with two Values, or with one and a number.
template <class F> Value withOperands(const Operand &a, const Operand &b, F f) {
  return std::visit(
      [&](const auto &x, const auto &y) -> Value {
        if constexpr (std::is_same_v<decltype(f(x, y)), double>)
          throw Error(ErrorKind::value_error, "an operation on two numbers is no part of a graph");
        else
          return f(x, y);
      },
      a, b);
}
constexpr Binary plus = [](const Operand &a, const Operand &b) {
  return withOperands(a, b, [](const auto &x, const auto &y) { return x + y; });
};
constexpr Binary minus = [](const Operand &a, const Operand &b) {
  return withOperands(a, b, [](const auto &x, const auto &y) { return x - y; });
};
constexpr Binary times = [](const Operand &a, const Operand &b) {
  return withOperands(a, b, [](const auto &x, const auto &y) { return x * y; });
};
constexpr Binary over = [](const Operand &a, const Operand &b) {
  return withOperands(a, b, [](const auto &x, const auto &y) { return x / y; });
};
template <Value (*f)(const Value &, const Value &)> Value ofValues(const Operand &a, const Operand &b) {
  if (!std::holds_alternative<Value>(a) || !std::holds_alternative<Value>(b))
    throw Error(ErrorKind::not_implemented_error, "the operation takes no numbers here");
  return f(std::get<Value>(a), std::get<Value>(b));
}

struct Operation {
  const char *call, *className, *module;
  std::variant<Unary, Binary, Reduction> make;
};
constexpr const char *numpy = "keras.src.ops.numpy", *nn = "keras.src.ops.nn", *math = "keras.src.ops.math";
const Operation operations[] = {
    {"add", "Add", numpy, plus},
    {"sub", "Subtract", numpy, minus},
    {"mul", "Multiply", numpy, times},
    {"div", "Divide", numpy, over},
    {"div", "TrueDivide", numpy, over}, // older files have it
    {"pow", "Power", numpy, Binary(ofValues<ops::power>)},
    {"maximum", "Maximum", numpy, Binary(ofValues<ops::maximum>)},
    {"minimum", "Minimum", numpy, Binary(ofValues<ops::minimum>)},
    {"matmul", "Matmul", numpy, Binary(ofValues<ops::matmul>)},
    {"sum", "Sum", numpy, Reduction(ops::sum)},
    {"mean", "Mean", numpy, Reduction(ops::mean)},
    {"max", "Max", numpy, Reduction(ops::max)},
    {"min", "Min", numpy, Reduction(ops::min)},
    {"prod", "Prod", numpy, Reduction(ops::prod)},
    {"abs", "Absolute", numpy, Unary(ops::abs)},
    {"neg", "Negative", numpy, Unary(ops::negative)},
    {"square", "Square", numpy, Unary(ops::square)},
    {"sqrt", "Sqrt", numpy, Unary(ops::sqrt)},
    {"rsqrt", "Rsqrt", math, Unary(ops::rsqrt)},
    {"exp", "Exp", numpy, Unary(ops::exp)},
    {"expm1", "Expm1", numpy, Unary(ops::expm1)},
    {"log", "Log", numpy, Unary(ops::log)},
    {"log1p", "Log1p", numpy, Unary(ops::log1p)},
    {"sin", "Sin", numpy, Unary(ops::sin)},
    {"cos", "Cos", numpy, Unary(ops::cos)},
    {"tanh", "Tanh", numpy, Unary(ops::tanh)},
    {"erf", "Erf", math, Unary(ops::erf)},
    {"logistic", "Sigmoid", nn, Unary(ops::sigmoid)},
    {"relu", "Relu", nn, Unary(ops::relu)},
};

/// The operation's operands by position or by their names in Keras. value_error for others.
std::vector<Operand> operandsOf(const Operation &operation, const std::vector<Value> &inputs, const Json &arguments) {
  const bool isBinary = std::holds_alternative<Binary>(operation.make);
  std::vector<Json> given = arguments.value("args", Json::array()).get<std::vector<Json>>();
  for (const char *name : isBinary ? std::vector{"x1", "x2"} : std::vector{"x"})
    if (const Json keywords = arguments.value("kwargs", Json::object()); keywords.contains(name))
      given.push_back(keywords[name]);
  std::vector<Operand> operands;
  for (const Json &each : given) {
    const auto place = each.is_object() ? each.find("input") : each.end();
    if (each.is_number())
      operands.emplace_back(each.get<double>());
    else if (each.is_object() && place != each.end() && place->is_number_unsigned() &&
             place->get<size_t>() < inputs.size())
      operands.emplace_back(inputs[place->get<size_t>()]);
    else
      throw Error(
          ErrorKind::not_implemented_error,
          fmt::format("the operation {} has the argument {}, which it cannot take", operation.className, each.dump()));
  }
  if (operands.size() != (isBinary ? 2u : 1u) || (!isBinary && !std::holds_alternative<Value>(operands[0])))
    throw Error(ErrorKind::value_error, fmt::format("the operation {} has {} arguments; expected {}",
                                                    operation.className, operands.size(), isBinary ? 2 : 1));
  return operands;
}

/// One axis, a list, or null for all.
Axes axesOf(const Json &axis) {
  const auto isInteger = [](const Json &each) { return each.is_number_integer(); };
  if (axis.is_null())
    return {};
  if (isInteger(axis))
    return Axes(std::vector{axis.get<int64_t>()});
  if (!axis.is_array() || !std::ranges::all_of(axis, isInteger))
    throw Error(ErrorKind::value_error,
                fmt::format("`axis` must be an integer, a list or null; it is {}", axis.dump()));
  return Axes(axis.get<std::vector<int64_t>>());
}

} // namespace

CallForm operationForm(std::string_view call, CallForm form, size_t inputs) {
  const auto *found = std::ranges::find(operations, call, &Operation::call);
  if (found == std::end(operations))
    return form;
  form.className = found->className;
  form.module = found->module;
  if (!form.arguments.contains("args")) {
    Json arguments, args = Json::array();
    for (size_t i = 0; i < inputs; ++i)
      args.push_back({{"input", i}});
    arguments["args"] = std::move(args);
    arguments["kwargs"] = Json::object();
    form.arguments = ConfigAccess::make(std::move(arguments));
  }
  return form;
}

CallForm formWithNumber(double number, bool numberFirst) {
  if (!std::isfinite(number)) // JSON has no such number
    return {};
  const Json value = {{"input", 0}};
  Json arguments;
  arguments["args"] = numberFirst ? Json::array({number, value}) : Json::array({value, number});
  arguments["kwargs"] = Json::object();
  return {.arguments = ConfigAccess::make(std::move(arguments))};
}

CallForm formOfReduction(const std::vector<int64_t> &axes, bool keepdims) {
  Json config;
  config["axis"] = axes.empty() ? Json() : axes.size() == 1 ? Json(axes[0]) : Json(axes);
  config["keepdims"] = keepdims;
  return {.config = ConfigAccess::make(std::move(config))};
}

bool isOperationModule(std::string_view module) {
  return module.starts_with("keras.src.ops") || module.starts_with("keras.ops");
}

Value callOperation(const std::string &className, const std::vector<Value> &inputs, const Config &arguments,
                    const Config &config) {
  const Operation *found = findClass(operations, className);
  if (!found)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("The operation {} between layers cannot be read: put it into a layer of your own. {}",
                            className, knownClasses(operations, className, "operations")));
  const std::vector<Operand> operands = operandsOf(*found, inputs, ConfigAccess::json(arguments));
  const auto *reduction = std::get_if<Reduction>(&found->make);
  const Json &json = ConfigAccess::json(config);
  for (const auto &[key, value] : json.items())
    if (!value.is_null() && key != "name" && key != "dtype" && !(reduction && (key == "axis" || key == "keepdims")))
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("the operation {} has `{}` = {}, which it cannot take", className, key, value.dump()));
  if (reduction) {
    const Json keeps = json.value("keepdims", Json(false));
    if (!keeps.is_boolean())
      throw Error(ErrorKind::value_error, fmt::format("`keepdims` must be true or false; it is {}", keeps.dump()));
    return (*reduction)(std::get<Value>(operands[0]), axesOf(json.value("axis", Json())), keeps.get<bool>());
  }
  if (const auto *unary = std::get_if<Unary>(&found->make))
    return (*unary)(std::get<Value>(operands[0]));
  return std::get<Binary>(found->make)(operands[0], operands[1]);
}

} // namespace halftone::detail
