// Keras's configs as JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Config.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/JsonText.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <vector>

using namespace halftone;
using Json = nlohmann::ordered_json;

struct Config::Rep {
  Json json = Json::object();
};

const Json &ConfigAccess::json(const Config &config) {
  static const Json &empty = *new Json(Json::object());
  return config.rep_ ? config.rep_->json : empty;
}

const char *ConfigAccess::kindOf(const Json &value) {
  switch (value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "a list";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a bool";
  case Json::value_t::number_integer:
  case Json::value_t::number_unsigned:
    return "an integer";
  case Json::value_t::number_float:
    return "a float";
  default:
    return "not JSON";
  }
}

Config ConfigAccess::make(Json object) {
  if (!object.is_object())
    throw Error(ErrorKind::type_error, fmt::format("A config must be a JSON object; received {}", kindOf(object)));
  Config config;
  config.rep_ = std::make_shared<Config::Rep>();
  config.rep_->json = std::move(object);
  return config;
}

Config::Config() noexcept = default;
Config::Config(const Config &other) : rep_(other.rep_ ? std::make_shared<Rep>(*other.rep_) : nullptr) {}
Config::Config(Config &&) noexcept = default;
Config &Config::operator=(const Config &other) & {
  Config copy(other);
  rep_.swap(copy.rep_);
  return *this;
}
Config &Config::operator=(Config &&) & noexcept = default;
Config::~Config() = default;

Config Config::parse(std::string_view json) {
  Json value = parseJson(json);
  if (!value.is_object())
    throw Error(ErrorKind::value_error, fmt::format("Invalid JSON at line 1, column 1: expected an object, found {}",
                                                    ConfigAccess::kindOf(value)));
  return ConfigAccess::make(std::move(value));
}

nlohmann::ordered_json ConfigAccess::json(const Number &number) {
  if (number.kind() == Number::Kind::real)
    return number.real();
  return number.is_negative() ? Json(static_cast<int64_t>(number.bits())) : Json(number.bits());
}
Number ConfigAccess::number(const nlohmann::ordered_json &value) {
  if (value.is_number_unsigned())
    return value.get<uint64_t>();
  return value.is_number_integer() ? Number(value.get<int64_t>()) : Number(value.get<double>());
}

std::string Config::dump(int64_t indent) const {
  constexpr int64_t most = 1000;
  if (indent > most)
    throw Error(ErrorKind::value_error, fmt::format("indent is {}; expected at most {}", indent, most));
  return jsonText(ConfigAccess::json(*this), static_cast<int>(std::max<int64_t>(indent, -1)));
}

bool Config::contains(std::string_view key) const { return ConfigAccess::json(*this).contains(std::string(key)); }

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto &item : ConfigAccess::json(*this).items())
    keys.push_back(item.key());
  return keys;
}

template <class Rep> static void assign(std::shared_ptr<Rep> &rep, std::string_view key, Json value) {
  if (!rep)
    rep = std::make_shared<Rep>();
  rep->json[std::string(key)] = std::move(value);
}

void Config::set(std::string_view key, const char *value) { value ? set(key, std::string_view(value)) : set_null(key); }
void Config::set(std::string_view key, std::string_view value) { assign(rep_, key, std::string(value)); }
void Config::set(std::string_view key, bool value) { assign(rep_, key, value); }
void Config::set(std::string_view key, int64_t value) { assign(rep_, key, value); }
void Config::set(std::string_view key, double value) { assign(rep_, key, value); }
void Config::set(std::string_view key, const Config &value) { assign(rep_, key, ConfigAccess::json(value)); }
void Config::set_null(std::string_view key) { assign(rep_, key, nullptr); }

static const Json &at(const Config &config, std::string_view key) {
  const Json &object = ConfigAccess::json(config);
  const auto place = object.find(std::string(key));
  if (place == object.end())
    throw Error(ErrorKind::key_error,
                fmt::format("The config has no key '{}'; its keys are [{}]", key, fmt::join(config.keys(), ", ")));
  return *place;
}

[[noreturn]] static void failKind(std::string_view key, const char *expected, const Json &value) {
  throw Error(ErrorKind::type_error,
              fmt::format("The value of '{}' must be {}; it is {}", key, expected, ConfigAccess::kindOf(value)));
}

std::string Config::get_string(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_string())
    failKind(key, "a string", value);
  return value.get<std::string>();
}

bool Config::get_bool(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_boolean())
    failKind(key, "a bool", value);
  return value.get<bool>();
}

int64_t Config::get_int(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max())))
    failKind(key, "an integer of 64 bits", value);
  return value.get<int64_t>();
}

double Config::get_double(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_number())
    failKind(key, "a number", value);
  return value.get<double>();
}

Config Config::get_object(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_object())
    failKind(key, "an object", value);
  return ConfigAccess::make(value);
}

std::vector<Config> Config::get_list(std::string_view key) const {
  const Json &value = at(*this, key);
  if (!value.is_array())
    failKind(key, "a list of objects", value);
  std::vector<Config> list;
  for (const Json &element : value) {
    if (!element.is_object())
      failKind(key, "a list of objects", element);
    list.push_back(ConfigAccess::make(element));
  }
  return list;
}
