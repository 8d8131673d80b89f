// The representation of operations in files, and its inverse.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Operations.h"
#include "frontend/base/ClassNames.h"
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

using Json = nlohmann::ordered_json;

/// The positional arguments of an operation on Values.
static Config positions(size_t inputs) {
  Json arguments, args = Json::array();
  for (size_t i = 0; i < inputs; ++i)
    args.push_back({{"input", i}});
  arguments["args"] = std::move(args);
  arguments["kwargs"] = Json::object();
  return ConfigAccess::make(std::move(arguments));
}

CallForm operationForm(std::string_view call, CallForm form, size_t inputs) {
  const auto operations = operationRows();
  const auto found = std::ranges::find(operations, call, &Operation::call);
  if (!form.className.empty() || !form.fits || call.empty() || found == operations.end())
    return form;
  form.className = found->className;
  form.module = found->module;
  if (!form.arguments.contains("args"))
    form.arguments = positions(inputs);
  return form;
}

Value applyOne(const std::string &name, const std::vector<Value> &inputs,
               const std::function<Value(const std::vector<Value> &)> &f, const CallForm &form) {
  const auto list = [f](const std::vector<Value> &values) { return std::vector<Value>{f(values)}; };
  const bool isRecorded = std::ranges::any_of(inputs, isSymbolic);
  return apply(name, inputs, list, nullptr, isRecorded ? operationForm(name, form, inputs.size()) : form).front();
}

static Json jsonOf(const Number &number) {
  return number.kind() == Number::Kind::boolean ? Json(number.bits() != 0) : ConfigAccess::json(number);
}

static CallForm formOf(const std::vector<Operand> &operands) {
  Json arguments, args = Json::array();
  size_t inputs = 0;
  for (const Operand &operand : operands) {
    if (operand.is_number() && !std::isfinite(operand.number().real())) // JSON cannot represent it
      return {.fits = false};
    args.push_back(operand.is_number() ? jsonOf(operand.number()) : Json({{"input", inputs++}}));
  }
  arguments["args"] = std::move(args);
  arguments["kwargs"] = Json::object();
  return {.arguments = ConfigAccess::make(std::move(arguments))};
}

Value applyOperands(const std::string &name, const std::vector<Operand> &operands,
                    const std::function<Value(const std::vector<Operand> &)> &f) {
  std::vector<Value> inputs;
  std::vector<std::optional<Number>> numbers; // none at the position of a Value
  for (const Operand &operand : operands) {
    numbers.push_back(operand.is_number() ? std::optional(operand.number()) : std::nullopt);
    if (!operand.is_number())
      inputs.push_back(operand.value());
  }
  const auto onValues = [numbers, f](const std::vector<Value> &values) {
    std::vector<Operand> all;
    size_t next = 0;
    for (const std::optional<Number> &number : numbers)
      all.push_back(number ? Operand(*number) : Operand(values[next++]));
    return f(all);
  };
  return applyOne(name, inputs, onValues, std::ranges::any_of(inputs, isSymbolic) ? formOf(operands) : CallForm());
}

CallForm formOfReduction(const std::vector<int64_t> &axes, bool keepdims) {
  Json config;
  config["axis"] = axes.empty() ? Json() : axes.size() == 1 ? Json(axes[0]) : Json(axes);
  config["keepdims"] = keepdims;
  return {.config = ConfigAccess::make(std::move(config))};
}

/// The known operations, for the error about an unknown class.
static std::string knownOperations(const std::string &className) {
  std::vector<std::string_view> names;
  for (const Operation &operation : operationRows())
    names.emplace_back(operation.className);
  return knownClasses(names, className, "operations");
}

bool isOperationModule(std::string_view module) {
  return module.starts_with("keras.src.ops") || module.starts_with("keras.ops");
}

/// Calls the operation on Values of a trace.
static std::vector<Value> perform(const Operation &operation, const std::vector<Value> &inputs, const CallForm &form) {
  OperationArguments arguments(operation.className, inputs, ConfigAccess::json(form.arguments),
                               ConfigAccess::json(form.config));
  const Values results = operation.make(arguments);
  arguments.requireNothingLeft();
  return {results.begin(), results.end()};
}

std::vector<Value> callOperation(const std::string &className, const std::vector<Value> &inputs,
                                 const Config &arguments, const Config &config) {
  const auto operations = operationRows();
  const auto found = std::ranges::find(operations, className, &Operation::className);
  if (found == operations.end())
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("The operation {} between layers cannot be read: put it into a layer of your own. {}",
                            className, knownOperations(className)));
  Json kept = ConfigAccess::json(config);
  kept.erase("name");
  const CallForm form{arguments, found->className, found->module, ConfigAccess::make(std::move(kept))};
  std::optional<std::vector<ValueSpec>> known;
  if (found->spec && std::ranges::all_of(inputs, isSymbolic)) {
    OperationArguments given(className, inputs, ConfigAccess::json(arguments), ConfigAccess::json(form.config));
    known = {found->spec(given)};
  }
  return apply(
      className, inputs, [row = *found, form](const std::vector<Value> &v) { return perform(row, v, form); }, nullptr,
      form, std::move(known));
}

std::vector<Value> recordOperations(const char *className, const std::vector<Value> &inputs, const Config &config,
                                    OperandForm form) {
  Config arguments = positions(inputs.size());
  if (form == OperandForm::list) {
    Json list = ConfigAccess::json(arguments);
    list["args"] = Json::array({list["args"]});
    arguments = ConfigAccess::make(std::move(list));
  }
  return callOperation(className, inputs, arguments, config);
}
Value recordOperation(const char *className, const std::vector<Value> &inputs, const Config &config, OperandForm form) {
  return recordOperations(className, inputs, config, form)[0];
}

} // namespace halftone::detail
