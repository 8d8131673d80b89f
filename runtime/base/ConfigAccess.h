// The JSON inside a Config, for the rooms that read and write whole Keras configs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <nlohmann/json.hpp>

namespace halftone {
struct ConfigAccess {
  static const nlohmann::ordered_json &json(const Config &config); // an object
  static Config make(nlohmann::ordered_json object);               // type_error when it is not an object
  static const char *kindOf(const nlohmann::ordered_json &value);  // "an object", "a string", "null", ...
  /// A number as one of JSON, and back: integers are exact from -2^63 to 2^64 - 1. A bool is 0 or 1.
  static nlohmann::ordered_json json(const Number &number);
  static Number number(const nlohmann::ordered_json &value);
};
} // namespace halftone
