// Scans the tokens of a text for arrays of types that crash MLIR's parser, and for deep nesting.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ModuleText.h"
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::tools {
namespace {

constexpr std::string_view bytecodeStart = "ML\xefR";
constexpr size_t maxLevels = 1000;
constexpr uint64_t maxTokens = uint64_t{1} << 26;

bool isOf(char c, std::string_view set) { return c != '\0' && set.find(c) != std::string_view::npos; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || isOf(c, "_$."); }

/// The tokens of a module's text as MLIR's lexer splits them, without comments: words, strings, identifiers with their
/// sigil (#map, !t, %0, @main, ^bb0), the tokens ->, >= and <=, and other characters one by one.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text(text) {}

  /// The next token; "" at the end.
  std::string_view next() {
    skip();
    const size_t start = at;
    if (at == text.size())
      return {};
    const char first = text[at], second = at + 1 < text.size() ? text[at + 1] : '\0';
    if (first == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
      at = std::min(at + 1, text.size());
    } else if (isWord(first)) {
      while (at < text.size() && isWord(text[at]))
        ++at;
    } else if (isOf(first, "#!%@^") && (isWord(second) || second == '-') && text.substr(at, 3) != "#-}") {
      ++at;
      const bool number = isDigit(second);
      while (at < text.size() && (number ? isDigit(text[at]) : isWord(text[at]) || text[at] == '-'))
        ++at;
    } else {
      at += (first == '-' && second == '>') || (isOf(first, "<>") && second == '=') ? 2 : 1;
    }
    return text.substr(start, at - start);
  }
  unsigned line() const { return 1 + static_cast<unsigned>(std::count(text.begin(), text.begin() + at, '\n')); }

private:
  /// MLIR's lexer treats NUL as whitespace, and ends comments at every kind of line ending.
  void skip() {
    for (; at < text.size(); ++at)
      if (text.substr(at, 2) == "//")
        at = std::min(text.find_first_of("\r\n", at), text.size() - 1);
      else if (text[at] != '\0' && !std::isspace(static_cast<unsigned char>(text[at])))
        return;
  }

  std::string_view text;
  size_t at = 0;
};

/// Tracks the nesting depth of a text, and its size with all aliases expanded.
class Nesting {
public:
  /// Consumes the next token. Returns "" or an error.
  std::string take(std::string_view token) {
    const char first = token.front();
    if (token.size() == 1 && isOf(first, "([{<"))
      operators.push_back(0);
    else if (token.size() == 1 && isOf(first, ")]}>"))
      close();
    else if (isOperator(token))
      addOperator();
    else if (isOf(first, ",=:"))
      endOperators();
    return noteAlias(token);
  }

private:
  struct Alias {
    size_t levels = 0;
    uint64_t tokens = 0;
  };

  /// A chain of operators is a tree as deep as the chain is long.
  static bool isOperator(std::string_view token) {
    return token == "+" || token == "-" || token == "*" || token == "mod" || token == "floordiv" || token == "ceildiv";
  }
  void addOperator() {
    ++operators.back();
    ++waiting;
  }
  void endOperators() { waiting -= std::exchange(operators.back(), 0); }
  void close() {
    endOperators();
    if (operators.size() > 1)
      operators.pop_back();
  }
  size_t levels() const { return operators.size() - 1 + waiting; }
  /// Returns true if the value of an alias ends before this token: a word or string after a complete value starts
  /// something else.
  bool endsValue(std::string_view token) const {
    return operators.size() <= base && !isOf(last.front(), "=:-") &&
           (isWord(token.front()) || isOf(token.front(), "\"#!%@^"));
  }
  /// Records the depth and size of each alias.
  std::string noteAlias(std::string_view token) {
    if (!defined.empty() && endsValue(token)) {
      aliases[defined] = value;
      defined = {};
    }
    if (token == "=" && !last.empty() && isOf(last.front(), "#!")) {
      defined = last;
      base = operators.size();
      value = {};
    }
    const auto alias = isOf(token.front(), "#!") ? aliases.find(token) : aliases.end();
    const Alias used = alias == aliases.end() ? Alias() : alias->second;
    value.levels = std::max(value.levels, levels() - std::min(levels(), base - 1) + used.levels);
    value.tokens += 1 + used.tokens;
    expanded += used.tokens;
    last = token;
    if (levels() + used.levels > maxLevels)
      return fmt::format(
          "text that nests more than {} levels deep; expected fewer nested brackets, operators and aliases", maxLevels);
    if (expanded > maxTokens)
      return fmt::format("aliases that expand to more than {} tokens", maxTokens);
    return "";
  }

  std::vector<size_t> operators{0}; // pending operators per open bracket, and outside of all
  size_t waiting = 0;               // the sum of `operators`
  std::unordered_map<std::string_view, Alias> aliases;
  std::string_view last, defined; // the previous token, and the alias whose value is being read
  size_t base = 1;                // size of `operators` where that value begins
  Alias value;                    // of `defined`
  uint64_t expanded = 0;          // tokens of used aliases
};

/// An error about the element type of an array, which begins with this token, or "".
std::string refusalOfElement(std::string_view token) {
  if (token.starts_with("!"))
    return "an array whose type is an alias; expected the type itself, as in array<i64: 1>";
  if (token == "index")
    return "an array of index; expected i1, i8, i16, i32, i64, f32 or f64, as in array<i64: 1>";
  return "";
}

} // namespace

bool isBytecode(std::string_view contents) { return contents.starts_with(bytecodeStart); }

Status checkModuleText(std::string_view text, const std::string &name) {
  Tokens tokens(text);
  const auto refusal = [&](std::string message) {
    return Status(ErrorKind::value_error, std::move(message), {}, Where{name.c_str(), tokens.line()});
  };
  if (text.find(bytecodeStart) != std::string_view::npos)
    return refusal("MLIR bytecode inside text; expected only text");
  Nesting nesting;
  std::string_view before, last;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    std::string error = nesting.take(token);
    if (error.empty() && before == "array" && last == "<")
      error = refusalOfElement(token);
    if (!error.empty())
      return refusal(std::move(error));
    before = last;
    last = token;
  }
  return {};
}

std::string withRelativeFiles(std::string_view text) {
  std::string relative(text);
  Tokens tokens(text);
  std::string_view file, sign;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    const bool isAbsolute = file.starts_with("\"/") || file.starts_with("\"\\2F") || file.starts_with("\"\\2f");
    if (isAbsolute && sign == ":" && isDigit(token.front()))
      relative[static_cast<size_t>(file.data() - text.data()) + 1] = '_';
    file = sign;
    sign = token;
  }
  return relative;
}

} // namespace halftone::tools
