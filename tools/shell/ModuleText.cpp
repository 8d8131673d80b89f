// Finds arrays of types on which MLIR's parser crashes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ModuleText.h"
#include <algorithm>
#include <cctype>

namespace halftone::tools {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.'; }

/// The words, signs and strings of a module's text, without comments.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text(text) {}

  /// The next token; "" at the end. A character that belongs to no word and no string is a sign by itself.
  std::string_view next() {
    skip();
    const size_t start = at;
    if (at == text.size())
      return {};
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
      at = std::min(at + 1, text.size());
    } else if (isWord(text[at])) {
      while (at < text.size() && isWord(text[at]))
        ++at;
    } else {
      ++at;
    }
    return text.substr(start, at - start);
  }
  unsigned line() const { return 1 + static_cast<unsigned>(std::count(text.begin(), text.begin() + at, '\n')); }

private:
  void skip() {
    for (; at < text.size(); ++at)
      if (text.substr(at, 2) == "//")
        at = std::min(text.find('\n', at), text.size() - 1);
      else if (!std::isspace(static_cast<unsigned char>(text[at])))
        return;
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

Status checkModuleText(std::string_view text, const std::string &name) {
  if (text.starts_with("ML\xefR")) // MLIR's bytecode
    return {};
  Tokens tokens(text);
  for (std::string_view token = tokens.next(); !token.empty();) {
    if (token != "array") {
      token = tokens.next();
      continue;
    }
    token = tokens.next();
    if (token != "<")
      continue;
    token = tokens.next();
    if (token == "index" || token == "!")
      return {ErrorKind::value_error,
              token == "!" ? "an array of a type by its alias; expected the type itself, as in array<i64: 1>"
                           : "an array of index; expected i1, i8, i16, i32, i64, f32 or f64, as in array<i64: 1>",
              {},
              Where{name.c_str(), tokens.line()}};
  }
  return {};
}

} // namespace halftone::tools
