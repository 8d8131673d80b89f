// Looks up the arguments of recorded operations, and reports those that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationArguments.h"
#include "frontend/graph/Literals.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

using Json = OperationArguments::Json;

OperationArguments::OperationArguments(std::string className, std::vector<Value> inputs, const Json &arguments,
                                       Json config)
    : className_(std::move(className)), inputs_(std::move(inputs)),
      keywords_(arguments.value("kwargs", Json::object())), config_(std::move(config)) {
  const Json positional = arguments.value("args", Json::array());
  if (!positional.is_array())
    refuse("args", positional, "a list");
  if (!keywords_.is_object())
    refuse("kwargs", keywords_, "an object");
  positional_ = positional.get<std::vector<Json>>();
  config_.erase("name");
}

void OperationArguments::refuse(const char *name, const Json &found, const char *expected) const {
  throw Error(ErrorKind::not_implemented_error,
              fmt::format("the operation {} has `{}` = {}; expected {}", className_, name, found.dump(), expected));
}

Json OperationArguments::take(const char *name) {
  if (auto keyword = keywords_.find(name); keyword != keywords_.end()) {
    Json found = *keyword;
    keywords_.erase(keyword);
    return found;
  }
  if (next_ == positional_.size())
    throw Error(ErrorKind::value_error, fmt::format("the operation {} lacks the argument `{}`", className_, name));
  return positional_[next_++];
}

Value OperationArguments::inputOf(const Json &argument, const char *name) const {
  if (isRecordedArray(argument))
    return recordedArray(className_, argument);
  const auto found = argument.is_object() ? argument.find("input") : argument.end();
  const int64_t number = found != argument.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
  if (number < 0 || number >= std::ssize(inputs_))
    refuse(name, argument, "a Value");
  return inputs_[static_cast<size_t>(number)];
}

Operand OperationArguments::operand(const char *name) {
  const Json found = take(name);
  if (found.is_boolean())
    return found.get<bool>();
  if (found.is_number())
    return ConfigAccess::number(found);
  return inputOf(found, name);
}
Value OperationArguments::value(const char *name) { return inputOf(take(name), name); }
bool OperationArguments::has(const char *name) const {
  if (const auto keyword = keywords_.find(name); keyword != keywords_.end())
    return !keyword->is_null();
  return next_ < positional_.size() && !positional_[next_].is_null();
}
Value OperationArguments::maybeValue(const char *name) {
  if (has(name))
    return value(name);
  if (keywords_.erase(name) == 0 && next_ < positional_.size())
    ++next_;
  return {};
}
std::optional<double> OperationArguments::maybeNumber(const char *name) {
  if (!has(name)) {
    maybeValue(name);
    return std::nullopt;
  }
  const Json found = take(name);
  if (!found.is_number())
    refuse(name, found, "a number");
  return found.get<double>();
}
std::vector<Value> OperationArguments::values(const char *name) {
  const Json found = take(name);
  if (!found.is_array())
    refuse(name, found, "a list of Values");
  std::vector<Value> all;
  for (const Json &each : found)
    all.push_back(inputOf(each, name));
  return all;
}
Starts OperationArguments::starts(const char *name) {
  const Json found = take(name);
  if (!found.is_array())
    return inputOf(found, name);
  std::vector<Operand> each;
  for (const Json &item : found)
    each.push_back(item.is_number_integer() ? Operand(ConfigAccess::number(item)) : Operand(inputOf(item, name)));
  return Starts(std::move(each));
}
std::vector<Value> OperationArguments::rest() {
  std::vector<Value> all;
  while (next_ < positional_.size())
    all.push_back(value("operands"));
  return all;
}
Json OperationArguments::literal(const char *name) { return take(name); }

Json OperationArguments::config(const char *key) {
  auto found = config_.find(key);
  if (found == config_.end())
    return {};
  Json value = *found;
  config_.erase(found);
  return value;
}
bool OperationArguments::isList(const char *key) const {
  const auto found = config_.find(key);
  return found != config_.end() && found->is_array();
}
bool OperationArguments::isText(const char *key) const {
  const auto found = config_.find(key);
  return found != config_.end() && found->is_string();
}
bool OperationArguments::isNull(const char *key) const {
  const auto found = config_.find(key);
  return found == config_.end() || found->is_null();
}
std::optional<int64_t> OperationArguments::maybeInteger(const char *key) {
  const Json found = config(key);
  if (found.is_null())
    return std::nullopt;
  if (!found.is_number_integer())
    refuse(key, found, "an integer");
  return found.get<int64_t>();
}
int64_t OperationArguments::integer(const char *key, std::optional<int64_t> byDefault) {
  const std::optional<int64_t> found = maybeInteger(key);
  if (!found && !byDefault)
    refuse(key, {}, "an integer");
  return found.value_or(byDefault.value_or(0));
}
double OperationArguments::number(const char *key, std::optional<double> byDefault) {
  return byDefault && isNull(key) ? (config(key), *byDefault) : exactNumber(key).real();
}
Number OperationArguments::exactNumber(const char *key) {
  const Json found = config(key);
  if (!found.is_number())
    refuse(key, found, "a number");
  return ConfigAccess::number(found);
}
bool OperationArguments::flag(const char *key) {
  const Json found = config(key);
  if (!found.is_null() && !found.is_boolean())
    refuse(key, found, "true or false");
  return found.is_boolean() && found.get<bool>();
}
std::string OperationArguments::text(const char *key) {
  const Json found = config(key);
  if (!found.is_string())
    refuse(key, found, "a text");
  return found.get<std::string>();
}
std::vector<int64_t> OperationArguments::integers(const char *key) {
  const Json found = config(key);
  if (found.is_null())
    return {};
  const Json list = found.is_array() ? found : Json::array({found});
  for (const Json &each : list)
    if (!each.is_number_integer())
      refuse(key, found, "an integer, a list of integers, or null");
  return list.get<std::vector<int64_t>>();
}

void OperationArguments::requireNothingLeft() const {
  if (next_ < positional_.size())
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("the operation {} has the extra argument {}", className_, positional_[next_].dump()));
  for (const Json *left : {&keywords_, &config_})
    for (const auto &[key, value] : left->items())
      if (!value.is_null() && key != "dtype")
        throw Error(
            ErrorKind::not_implemented_error,
            fmt::format("the operation {} has `{}` = {}, which it does not accept", className_, key, value.dump()));
}

} // namespace halftone::detail
