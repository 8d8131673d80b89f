// JSON as Python's json module writes and reads it: with Infinity, -Infinity and NaN.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace halftone {

/// Parses a text. value_error, with line and column, for text that is not JSON, more than `maxJsonLevels` nested
/// objects and lists, a duplicate key in an object, a number beyond the range of float64, a zero byte or a byte order
/// mark. Takes linear time.
nlohmann::ordered_json parseJson(std::string_view text);

/// Formats a value so that parseJson() restores the same bits of each number. `indent` < 0: on one line. value_error,
/// naming the string and its key, for a string that is not valid UTF-8.
std::string jsonText(const nlohmann::ordered_json &value, int indent = -1);

/// Returns true if `text` is valid UTF-8, as JSON strings must be.
bool isUtf8(const std::string &text);

} // namespace halftone
