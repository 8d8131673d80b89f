// JSON as Python's json module writes and reads it: with Infinity, -Infinity and NaN.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace halftone {

/// The value of a text. value_error, with line and column, for text that is no JSON, more than `mostJsonLevels` objects and
/// lists inside of each other, a key that stands twice in one object, a number past the range of float64, and a zero byte or a
/// byte order mark. Takes time in proportion to the text.
nlohmann::ordered_json parseJson(std::string_view text);

/// The text of a value, which parseJson() reads with the same bits of each number. `indent` < 0: in one line. value_error for
/// a text that is not UTF-8, which names it and its key.
std::string jsonText(const nlohmann::ordered_json &value, int indent = -1);

/// Whether a text is UTF-8, which strings of JSON are.
bool isUtf8(const std::string &text);

} // namespace halftone
