// Access to the JSON inside a Config, for libraries that read and write whole Keras configs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace halftone {
struct ConfigAccess {
  static const nlohmann::ordered_json &json(const Config &config); // an object
  static nlohmann::ordered_json take(Config config);               // like json(), without a copy
  /// find() returns the value of a key, or null if it is absent; set() sets it. Both take constant time, whereas the
  /// JSON library searches all keys.
  static const nlohmann::ordered_json *find(const Config &config, std::string_view key);
  static void set(Config &config, std::string_view key, nlohmann::ordered_json value);
  /// An empty object with capacity for `members`. An object that grows beyond its capacity copies all of its values,
  /// however large they are, since const keys prevent moving the pairs.
  static nlohmann::ordered_json object(size_t members = 16) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    object.get_ref<nlohmann::ordered_json::object_t &>().reserve(members);
    return object;
  }
  /// Adds a member to an object that lacks its key, in constant time.
  static void append(nlohmann::ordered_json &object, std::string key, nlohmann::ordered_json value) {
    object.get_ref<nlohmann::ordered_json::object_t &>().emplace_back(std::move(key), std::move(value));
  }
  static Config make(nlohmann::ordered_json object);              // type_error if it is not an object
  static const char *kindOf(const nlohmann::ordered_json &value); // "an object", "a string", "null", ...
  /// Converts a number to JSON and back: integers are exact from -2^63 to 2^64 - 1. A bool is 0 or 1.
  static nlohmann::ordered_json json(const Number &number);
  static Number number(const nlohmann::ordered_json &value);
};
} // namespace halftone
