// Reading arguments from a config.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ConfigFields.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

using Json = nlohmann::ordered_json;

bool FieldReader::takes(const char *key) {
  taken_.emplace_back(key);
  return config_.contains(key);
}
bool FieldReader::isNull(const char *key) const { return ConfigAccess::json(config_).at(key).is_null(); }
bool FieldReader::isObject(const char *key) const { return ConfigAccess::json(config_).at(key).is_object(); }
std::vector<std::string> FieldReader::left() const {
  std::vector<std::string> keys = config_.keys();
  std::erase_if(keys,
                [&](const std::string &key) { return std::find(taken_.begin(), taken_.end(), key) != taken_.end(); });
  return keys;
}
void FieldReader::requireNothingLeft(const std::string &className) const {
  std::string found;
  for (const std::string &key : left())
    found += fmt::format("{}'{}': {}", found.empty() ? "" : ", ", key, ConfigAccess::json(config_).at(key).dump());
  if (!found.empty())
    throw Error(ErrorKind::value_error, fmt::format("{}: Argument(s) not recognized: {{{}}}", className, found));
}

void FieldReader::load(const char *key, double &value) {
  takes(key);
  value = config_.get_double(key);
}
void FieldReader::load(const char *key, int64_t &value) {
  takes(key);
  value = config_.get_int(key);
}
void FieldReader::load(const char *key, bool &value) {
  takes(key);
  value = config_.get_bool(key);
}
void FieldReader::load(const char *key, std::string &value) {
  takes(key);
  value = config_.get_string(key);
}

template <class T> static std::vector<T> listOf(const Config &config, const char *key, bool (*fits)(const Json &)) {
  if (!config.contains(key))
    throw Error(ErrorKind::key_error,
                fmt::format("The config has no key '{}'; its keys are [{}]", key, fmt::join(config.keys(), ", ")));
  const Json &list = ConfigAccess::json(config).at(key);
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), fits))
    throw Error(ErrorKind::type_error,
                fmt::format("The value of '{}' must be a list of numbers; it is {}", key, list.dump()));
  return list.get<std::vector<T>>();
}
void FieldReader::load(const char *key, std::vector<double> &value) {
  takes(key);
  value = listOf<double>(config_, key, [](const Json &value) { return value.is_number(); });
}
void FieldReader::load(const char *key, std::vector<int64_t> &value) {
  takes(key);
  value = listOf<int64_t>(config_, key, [](const Json &value) { return value.is_number_integer(); });
}

} // namespace halftone::detail
