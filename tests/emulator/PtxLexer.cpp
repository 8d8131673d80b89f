// The tokens of PTX text.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/PtxLexer.h"
#include "tests/emulator/Fault.h"
#include <fmt/format.h>

namespace halftone::emulator {

PtxError::PtxError(uint32_t line, const std::string &text)
    : std::runtime_error(fmt::format("line {}: {}", line, text)), line(line) {}

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> found;
    for (;;) {
      skipBlanks();
      if (place_ >= text_.size()) {
        found.push_back({Token::Kind::End, {}, line_});
        return found;
      }
      Token token = next();
      if (token.text == ".loc" || token.text == ".file")
        skipLine();
      else
        found.push_back(token);
    }
  }

private:
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  void skipLine() {
    while (place_ < text_.size() && text_[place_] != '\n')
      ++place_;
  }

  void skipComment() {
    uint32_t start = line_;
    for (place_ += 2; text_.substr(place_, 2) != "*/"; ++place_) {
      if (place_ >= text_.size())
        throw PtxError(start, "a comment without its end; expected */");
      line_ += text_[place_] == '\n';
    }
    place_ += 2;
  }

  void skipBlanks() {
    while (place_ < text_.size()) {
      std::string_view two = text_.substr(place_, 2);
      char c = text_[place_];
      if (two == "//")
        skipLine();
      else if (two == "/*")
        skipComment();
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0') {
        line_ += c == '\n';
        ++place_;
      } else
        return;
    }
  }

  /// A dot belongs to a word, and so do the two colons of `shared::cta`, unlike the single colon after a label.
  bool continuesWord(size_t place) const {
    char c = at(place);
    return isLetter(c) || isDigit(c) || c == '.' || (c == ':' && (at(place + 1) == ':' || at(place - 1) == ':'));
  }

  Token next() {
    size_t start = place_;
    auto token = [&](Token::Kind kind) { return Token{kind, text_.substr(start, place_ - start), line_}; };
    char c = at(place_);
    if (isLetter(c) || (c == '.' && isLetter(at(place_ + 1)))) {
      while (continuesWord(place_))
        ++place_;
      return token(Token::Kind::Word);
    }
    if (isDigit(c)) {
      while (isLetter(at(place_)) || isDigit(at(place_)) || at(place_) == '.')
        ++place_;
      return token(Token::Kind::Number);
    }
    if (c == '"') {
      for (++place_; at(place_) != '"'; ++place_)
        if (place_ >= text_.size() || text_[place_] == '\n')
          throw PtxError(line_, "a text without its closing quote");
      ++place_;
      return token(Token::Kind::Text);
    }
    ++place_;
    return token(Token::Kind::Mark);
  }

  std::string_view text_;
  size_t place_ = 0;
  uint32_t line_ = 1;
};

} // namespace

std::vector<Token> ptxTokens(std::string_view ptx) { return Lexer(ptx).tokens(); }

} // namespace halftone::emulator
