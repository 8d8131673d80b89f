// The JSON inside a Config, for the rooms that read and write whole Keras configs.
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
  static nlohmann::ordered_json take(Config config);               // the same without a copy
  /// The value of a key, null if it is not there, and setting it: in constant time, while the JSON library looks through all keys.
  static const nlohmann::ordered_json *find(const Config &config, std::string_view key);
  static void set(Config &config, std::string_view key, nlohmann::ordered_json value);
  /// An empty object with room for `members`: one that grows beyond its room copies all of its values, however large they are,
  /// since its keys are const and so the pairs do not move.
  static nlohmann::ordered_json object(size_t members = 16) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    object.get_ref<nlohmann::ordered_json::object_t &>().reserve(members);
    return object;
  }
  /// Adds a member to an object that does not have its key, also in constant time.
  static void append(nlohmann::ordered_json &object, std::string key, nlohmann::ordered_json value) {
    object.get_ref<nlohmann::ordered_json::object_t &>().emplace_back(std::move(key), std::move(value));
  }
  static Config make(nlohmann::ordered_json object);              // type_error when it is not an object
  static const char *kindOf(const nlohmann::ordered_json &value); // "an object", "a string", "null", ...
  /// A number as one of JSON, and back: integers are exact from -2^63 to 2^64 - 1. A bool is 0 or 1.
  static nlohmann::ordered_json json(const Number &number);
  static Number number(const nlohmann::ordered_json &value);
};
} // namespace halftone
