// A value of a config together with its location in the file, for errors: config.layers[2].config
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct ConfigNode {
  using Json = nlohmann::ordered_json;
  const Json &json;
  std::string where; // "" for the whole file

  /// Throws a type_error with the location and the JSON type of the value.
  [[noreturn]] void fail(const char *expected) const {
    throw Error(ErrorKind::type_error, fmt::format("{}: expected {}, found {}", where.empty() ? "the file" : where,
                                                   expected, ConfigAccess::kindOf(json)));
  }
  [[noreturn]] void refuse(ErrorKind kind, const std::string &message) const {
    throw Error(kind, fmt::format("{}: {}", where.empty() ? "the file" : where, message));
  }
  const ConfigNode &object() const {
    if (!json.is_object())
      fail("an object");
    return *this;
  }
  /// The value of `key`; null if the object has no such key.
  ConfigNode at(const std::string &key) const {
    static const Json &null = *new Json;
    const auto found = object().json.find(key);
    return {found == json.end() ? null : *found, where.empty() ? key : fmt::format("{}.{}", where, key)};
  }
  std::vector<ConfigNode> elements() const {
    if (!json.is_array())
      fail("a list");
    std::vector<ConfigNode> nodes;
    for (size_t i = 0; i < json.size(); ++i)
      nodes.push_back({json[i], fmt::format("{}[{}]", where, i)});
    return nodes;
  }
  /// The members of an object, in file order.
  std::vector<std::pair<std::string, ConfigNode>> members() const {
    std::vector<std::pair<std::string, ConfigNode>> members;
    for (const auto &[key, value] : object().json.items())
      members.push_back({key, {value, where.empty() ? key : fmt::format("{}.{}", where, key)}});
    return members;
  }
  std::string text() const {
    if (!json.is_string())
      fail("a string");
    return json.get<std::string>();
  }
  int64_t integer() const {
    if (!json.is_number_integer())
      fail("an integer");
    return json.get<int64_t>();
  }
  bool boolean() const {
    if (!json.is_boolean())
      fail("true or false");
    return json.get<bool>();
  }
  bool isNull() const { return json.is_null(); }
};

} // namespace halftone::detail
