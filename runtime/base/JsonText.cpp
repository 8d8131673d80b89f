// Reads and writes JSON as Python's json module does.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/JsonText.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/StackRoom.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>

namespace halftone {

using Json = nlohmann::ordered_json;
using detail::maxJsonLevels;

namespace {

/// The prefix of a possibly long text that a message quotes.
std::string shortened(std::string_view text) {
  constexpr size_t longest = 80;
  if (text.size() <= longest)
    return std::string(text);
  return fmt::format("{}... ({} characters)", text.substr(0, longest), text.size());
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// A custom JSON parser. The JSON library's parser reads neither Infinity nor NaN, and its callback parser, which could
/// detect duplicate keys, takes time quadratic in the length of a list. Strings with escapes are left to the library.
class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json parse() {
    // Characters that a reader might treat as the end of its input, or skip.
    if (text_.starts_with("\xef\xbb\xbf"))
      fail("a byte order mark");
    if (const size_t zero = text_.find('\0'); zero != text_.npos)
      failAt(zero, "a zero byte");
    Json value = this->value(0);
    skipBlanks();
    if (at_ < text_.size())
      fail(fmt::format("expected the end, found {}", found()));
    return value;
  }

private:
  std::string_view text_;
  size_t at_ = 0;

  /// Throws an error whose message ends with the position of the byte at `at`, as "line 3, column 7".
  [[noreturn]] void failAt(size_t at, const std::string &what) const {
    const std::string_view before = text_.substr(0, at);
    const size_t column = before.size() - (before.rfind('\n') + 1); // if there is no newline before, npos + 1 is 0
    throw Error(ErrorKind::value_error, fmt::format("Invalid JSON at line {}, column {}: {}",
                                                    std::ranges::count(before, '\n') + 1, column + 1, what));
  }
  [[noreturn]] void fail(const std::string &what) const { failAt(at_, what); }

  std::string found() const {
    if (at_ == text_.size())
      return "the end of the text";
    size_t end = at_ + 1;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end])) != 0)
      ++end;
    return fmt::format("{:?}", shortened(text_.substr(at_, end - at_)));
  }

  void skipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool takes(std::string_view word) {
    if (!text_.substr(at_).starts_with(word))
      return false;
    at_ += word.size();
    return true;
  }
  void expect(char c, const char *expected) {
    skipBlanks();
    if (at_ == text_.size() || text_[at_] != c)
      fail(fmt::format("expected {}, found {}", expected, found()));
    ++at_;
  }
  /// Consumes the comma or the closing character after a value; returns true if the list or object continues.
  bool hasNext(char end, const char *expected) {
    skipBlanks();
    if (takes(","))
      return true;
    expect(end, expected);
    return false;
  }

  Json value(int level) {
    requireStack("a JSON text");
    skipBlanks();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if ((first == '{' || first == '[') && level == maxJsonLevels)
      throw Error(ErrorKind::value_error, fmt::format("Invalid JSON: more than {} levels of nesting", maxJsonLevels));
    if (first == '{')
      return object(level);
    if (first == '[')
      return list(level);
    if (first == '"')
      return string();
    if (takes("true"))
      return true;
    if (takes("false"))
      return false;
    if (takes("null"))
      return nullptr;
    if (takes("NaN"))
      return std::numeric_limits<double>::quiet_NaN();
    if (takes("Infinity"))
      return std::numeric_limits<double>::infinity();
    if (takes("-Infinity"))
      return -std::numeric_limits<double>::infinity();
    if (first == '-' || isDigit(first))
      return number();
    fail(fmt::format("expected a value, found {}", found()));
  }

  Json object(int level) {
    std::vector<std::pair<std::string, Json>> members; // can be moved, unlike those of a growing object
    std::unordered_set<std::string> keys;
    ++at_;
    skipBlanks();
    if (takes("}"))
      return Json::object();
    do {
      skipBlanks();
      if (at_ == text_.size() || text_[at_] != '"')
        fail(fmt::format("expected a key in quotes, found {}", found()));
      std::string key = string();
      if (!keys.insert(key).second)
        throw Error(ErrorKind::value_error,
                    fmt::format("Invalid JSON: the key '{}' occurs twice in one object", shortened(key)));
      expect(':', "':' after a key");
      members.emplace_back(std::move(key), value(level + 1));
    } while (hasNext('}', "',' or '}'"));
    Json result = ConfigAccess::object(members.size());
    for (auto &[key, value] : members)
      ConfigAccess::append(result, std::move(key), std::move(value));
    return result;
  }

  Json list(int level) {
    Json result = Json::array();
    ++at_;
    skipBlanks();
    if (takes("]"))
      return result;
    do
      result.push_back(value(level + 1));
    while (hasNext(']', "',' or ']'"));
    return result;
  }

  std::string string() {
    const size_t begin = at_;
    bool isPlain = true; // no escapes, only ASCII
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20)
        fail("a control character in a string");
      isPlain = isPlain && text_[at_] != '\\' && static_cast<signed char>(text_[at_]) >= 0;
      at_ += text_[at_] == '\\';
    }
    if (at_ >= text_.size())
      failAt(begin, "an unterminated string");
    ++at_;
    if (isPlain)
      return std::string(text_.substr(begin + 1, at_ - begin - 2));
    const Json read = Json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (read.is_discarded())
      failAt(begin, "a string with an invalid escape or invalid UTF-8");
    return read.get<std::string>();
  }

  void digits() {
    if (at_ == text_.size() || !isDigit(text_[at_]))
      fail(fmt::format("expected a digit, found {}", found()));
    while (at_ < text_.size() && isDigit(text_[at_]))
      ++at_;
  }

  /// Parses an int64 or, for any other number, a float.
  Json number() {
    const size_t begin = at_;
    const bool isNegative = takes("-");
    if (!takes("0"))
      digits();
    bool isInteger = true;
    if (takes(".")) {
      digits();
      isInteger = false;
    }
    if (takes("e") || takes("E")) {
      takes("+") || takes("-");
      digits();
      isInteger = false;
    }
    const char *first = text_.data() + begin, *last = text_.data() + at_;
    if (int64_t integer = 0; isInteger && isNegative && std::from_chars(first, last, integer).ec == std::errc())
      return integer;
    // An integer outside the range of int64 becomes a float, so that reading it as an int64 cannot wrap.
    if (uint64_t integer = 0; isInteger && !isNegative && std::from_chars(first, last, integer).ec == std::errc() &&
                              integer <= uint64_t(std::numeric_limits<int64_t>::max()))
      return integer;
    const std::string digits(first, last);
    const double number = std::strtod(digits.c_str(), nullptr); // from_chars gives no value on underflow
    if (!std::isfinite(number))
      failAt(begin, fmt::format("the number {} is too large", shortened(digits)));
    return number;
  }
};

class Writer {
public:
  explicit Writer(int indent) : indent_(indent) {}
  std::string text;

  void value(const Json &json, int level, std::string_view key) {
    requireStack("a config");
    if (json.is_object())
      return structure('{', '}', json, level, key);
    if (json.is_array())
      return structure('[', ']', json, level, key);
    if (json.is_string())
      return string(json.get_ref<const std::string &>(), key);
    if (!json.is_number_float() || std::isfinite(json.get<double>()))
      text += json.dump();
    else
      text += std::isnan(json.get<double>()) ? "NaN" : json.get<double>() > 0 ? "Infinity" : "-Infinity";
  }

private:
  int indent_;

  void newLine(int level) {
    if (indent_ >= 0)
      text.append(1, '\n').append(static_cast<size_t>(indent_) * static_cast<size_t>(level), ' ');
  }
  void structure(char open, char close, const Json &json, int level, std::string_view key) {
    text += open;
    bool isFirst = true;
    for (auto each = json.begin(); each != json.end(); ++each) {
      if (!isFirst)
        text += ',';
      isFirst = false;
      newLine(level + 1);
      if (json.is_object()) {
        string(each.key(), each.key());
        text += indent_ >= 0 ? ": " : ":";
      }
      value(*each, level + 1, json.is_object() ? each.key() : key);
    }
    if (!isFirst)
      newLine(level);
    text += close;
  }
  void string(const std::string &string, std::string_view key) {
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    if (std::ranges::all_of(string, isPlain)) {
      text.append(1, '"').append(string).append(1, '"');
      return;
    }
    if (!isUtf8(string))
      throw Error(ErrorKind::value_error, fmt::format("JSON strings must be UTF-8, but {:?} of the key {:?} is not",
                                                      shortened(string), shortened(key)));
    text += Json(string).dump();
  }
};

} // namespace

Json parseJson(std::string_view text) {
  const FloatMode mode;
  return Parser(text).parse();
}

bool isUtf8(const std::string &text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception &) {
    return false;
  }
}

std::string jsonText(const Json &value, int indent) {
  const FloatMode mode;
  Writer writer(indent);
  writer.value(value, 0, "");
  return std::move(writer.text);
}

} // namespace halftone
