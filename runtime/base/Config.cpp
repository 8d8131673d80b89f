// Keras's configs as JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Config.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/JsonText.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <vector>

using namespace halftone;
using Json = nlohmann::ordered_json;

/// An object, and an index of its keys if there are many: the JSON library keeps their order and searches linearly.
struct Config::Rep {
  Rep() = default;
  explicit Rep(Json object) : json(std::move(object)) { listIndices(); }

  const Json *find(std::string_view key) const {
    const auto &members = json.get_ref<const Json::object_t &>();
    if (indices.empty()) {
      const auto found =
          std::ranges::find(members, key, [](const auto &member) -> std::string_view { return member.first; });
      return found == members.end() ? nullptr : &found->second;
    }
    const auto found = indices.find(std::string(key));
    return found == indices.end() ? nullptr : &members.begin()[static_cast<std::ptrdiff_t>(found->second)].second;
  }
  void set(std::string_view key, Json value) {
    if (const Json *known = find(key)) {
      const_cast<Json &>(*known) = std::move(value);
      return;
    }
    auto &members = json.get_ref<Json::object_t &>();
    members.emplace_back(std::string(key), std::move(value));
    if (indices.empty())
      listIndices();
    else
      indices.emplace(key, members.size() - 1);
  }

  Json json = ConfigAccess::object();

private:
  static constexpr size_t few = 32;

  void listIndices() {
    const auto &members = json.get_ref<const Json::object_t &>();
    if (members.size() > few)
      for (const auto &[key, value] : members)
        indices.emplace(key, indices.size());
  }

  std::unordered_map<std::string, size_t> indices;
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
  config.rep_ = std::make_shared<Config::Rep>(std::move(object));
  return config;
}

Json ConfigAccess::take(Config config) { return config.rep_ ? std::move(config.rep_->json) : Json::object(); }

const Json *ConfigAccess::find(const Config &config, std::string_view key) {
  return config.rep_ ? config.rep_->find(key) : nullptr;
}

void ConfigAccess::set(Config &config, std::string_view key, Json value) {
  if (!config.rep_)
    config.rep_ = std::make_shared<Config::Rep>();
  config.rep_->set(key, std::move(value));
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
  constexpr int64_t limit = 1000;
  if (indent > limit)
    throw Error(ErrorKind::value_error, fmt::format("indent is {}; expected at most {}", indent, limit));
  return jsonText(ConfigAccess::json(*this), static_cast<int>(std::max<int64_t>(indent, -1)));
}

bool Config::contains(std::string_view key) const { return ConfigAccess::find(*this, key) != nullptr; }

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto &item : ConfigAccess::json(*this).items())
    keys.push_back(item.key());
  return keys;
}

/// Returns true if `json` nests objects and lists more than `limit` levels deep.
static bool isDeeper(const Json &json, int limit) {
  if (!json.is_structured())
    return false;
  return limit == 0 || std::ranges::any_of(json, [&](const Json &each) { return isDeeper(each, limit - 1); });
}

void Config::set(std::string_view key, const char *value) { value ? set(key, std::string_view(value)) : set_null(key); }
void Config::set(std::string_view key, std::string_view value) { ConfigAccess::set(*this, key, std::string(value)); }
void Config::set(std::string_view key, bool value) { ConfigAccess::set(*this, key, value); }
void Config::set(std::string_view key, int64_t value) { ConfigAccess::set(*this, key, value); }
void Config::set(std::string_view key, double value) { ConfigAccess::set(*this, key, value); }
void Config::set(std::string_view key, const Config &value) {
  if (isDeeper(ConfigAccess::json(value), detail::maxJsonLevels - 1))
    throw Error(ErrorKind::value_error, fmt::format("The config under the key '{}' would exceed {} levels of nesting",
                                                    key, detail::maxJsonLevels));
  ConfigAccess::set(*this, key, ConfigAccess::json(value));
}
void Config::set_null(std::string_view key) { ConfigAccess::set(*this, key, nullptr); }

static const Json &at(const Config &config, std::string_view key) {
  const Json *value = ConfigAccess::find(config, key);
  if (!value)
    throw Error(ErrorKind::key_error,
                fmt::format("The config has no key '{}'; its keys are [{}]", key, fmt::join(config.keys(), ", ")));
  return *value;
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
    failKind(key, "a 64-bit integer", value);
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
