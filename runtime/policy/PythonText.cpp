// Parses integers and formats strings as Python does.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/policy/PythonText.h"
#include <charconv>
#include <fmt/format.h>

using namespace halftone;

std::optional<int64_t> halftone::pythonInteger(std::string_view text) {
  constexpr std::string_view blanks = "\t\n\v\f\r \x1c\x1d\x1e\x1f";
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos)
    return std::nullopt;
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  std::string digits;
  if (text.front() == '-' || text.front() == '+') {
    if (text.front() == '-')
      digits += '-';
    text.remove_prefix(1);
  }
  bool afterDigit = false;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      digits += c;
      afterDigit = true;
    } else if (c == '_' && afterDigit) {
      afterDigit = false;
    } else {
      return std::nullopt;
    }
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!afterDigit || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

std::string halftone::pythonRepr(std::string_view text) {
  const bool hasSingle = text.find('\'') != text.npos, hasDouble = text.find('"') != text.npos;
  const char quote = hasSingle && !hasDouble ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else if (c == '\\' || c == quote)
      result += {'\\', c};
    else
      result += c;
  }
  return result + quote;
}

std::string halftone::pythonRepr(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == text.npos)
    text += ".0";
  return text;
}
