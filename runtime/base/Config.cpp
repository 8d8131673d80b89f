// Keras's configs as JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Config.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>
#include <vector>

using namespace halftone;
using Json = nlohmann::ordered_json;

struct Config::Rep {
  Json json = Json::object();
};

/// The deepest JSON that is read. Deeper text is refused, so that no recursion over a value can exhaust the stack.
static constexpr int deepest = 200;

const Json &ConfigAccess::json(const Config &config) {
  static const Json empty = Json::object();
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

/// The part of a text that a message quotes; the text may be long.
static std::string shortened(std::string_view text) {
  constexpr size_t longest = 80;
  if (text.size() <= longest)
    return std::string(text);
  return fmt::format("{}... ({} characters)", text.substr(0, longest), text.size());
}

/// Without its head, the JSON library's error for text that is no JSON: "[json.exception.parse_error.101] parse error
/// at line 1, column 2: syntax error while parsing value - invalid literal; last read: '{"a": x'".
static std::string withoutItsHead(std::string_view error) {
  const size_t start = error.find(" at line "), read = error.find("last read: '"), end = error.rfind('\'');
  if (start == error.npos)
    return fmt::format(": {}", shortened(error));
  if (read == error.npos || end < read + 12)
    return std::string(error.substr(start));
  return fmt::format("{}{}{}", error.substr(start, read + 12 - start),
                     shortened(error.substr(read + 12, end - read - 12)), error.substr(end));
}

/// The byte at index `at` as "line 3, column 7".
static std::string placeOf(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t column = before.size() - (before.rfind('\n') + 1); // without a newline before, npos + 1 is 0
  return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1, column + 1);
}

/// Our error for the JSON library's "[json.exception.out_of_range.406] number overflow parsing '1e999'".
static std::string overflow(std::string_view text, std::string_view error) {
  const size_t quote = error.find('\''), end = error.rfind('\'');
  if (quote == error.npos || end <= quote)
    return fmt::format("Invalid JSON: {}", shortened(error));
  const std::string_view number = error.substr(quote + 1, end - quote - 1);
  return fmt::format("Invalid JSON at {}: the number {} is too large", placeOf(text, text.find(number)),
                     shortened(number));
}

/// Refuses text that the JSON library reads although it is no JSON: it takes a zero byte for the end, and skips a byte order
/// mark.
static void refuseHiddenText(std::string_view json) {
  if (json.starts_with("\xef\xbb\xbf"))
    throw Error(ErrorKind::value_error, "Invalid JSON at line 1, column 1: a byte order mark");
  if (const size_t zero = json.find('\0'); zero != json.npos)
    throw Error(ErrorKind::value_error, fmt::format("Invalid JSON at {}: a zero byte", placeOf(json, zero)));
}

Config Config::parse(std::string_view json) {
  const FloatMode mode;
  refuseHiddenText(json);
  std::vector<std::unordered_set<std::string>> keys; // of the objects that the parser is inside of
  const auto check = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > deepest)
      throw Error(ErrorKind::value_error, fmt::format("Invalid JSON: more than {} levels of nesting", deepest));
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw Error(ErrorKind::value_error, fmt::format("Invalid JSON: the key '{}' stands twice in one object",
                                                      shortened(value.get<std::string>())));
    return true;
  };
  Json value;
  try {
    value = Json::parse(json.begin(), json.end(), check);
  } catch (const Json::out_of_range &error) {
    throw Error(ErrorKind::value_error, overflow(json, error.what()));
  } catch (const Json::exception &error) {
    throw Error(ErrorKind::value_error, "Invalid JSON" + withoutItsHead(error.what()));
  }
  if (!value.is_object())
    throw Error(ErrorKind::value_error, fmt::format("Invalid JSON at line 1, column 1: expected an object, found {}",
                                                    ConfigAccess::kindOf(value)));
  return ConfigAccess::make(std::move(value));
}

std::string Config::dump(int indent) const {
  const FloatMode mode;
  return ConfigAccess::json(*this).dump(indent, ' ', false, Json::error_handler_t::replace);
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
void Config::set(std::string_view key, double value) {
  if (!std::isfinite(value))
    throw Error(ErrorKind::value_error, fmt::format("JSON has no number for {}; the key is '{}'", value, key));
  assign(rep_, key, value);
}
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
