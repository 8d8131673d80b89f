// Modules: directives, variables and the list of kernels.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/PtxParser.h"
#include "tests/emulator/Decoding.h"
#include "tests/emulator/Fault.h"
#include "tests/emulator/PtxTokens.h"
#include "tests/emulator/Requirements.h"
#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

constexpr uint64_t maxVariableBytes = uint64_t(1) << 30;

class ModuleParser {
public:
  explicit ModuleParser(std::string_view ptx) : tokens_(ptx) {}

  Module parse() {
    parseHeader();
    while (tokens_.peek().kind != Token::Kind::End)
      parseTopLevel();
    return std::move(module_);
  }

private:
  void parseHeader() {
    tokens_.expect(".version");
    parseVersion();
    tokens_.expect(".target");
    std::string_view target = tokens_.expectWord("a target, as sm_80");
    const char *digits = target.data() + 3;
    if (target.substr(0, 3) != "sm_" ||
        std::from_chars(digits, target.data() + target.size(), module_.target).ec != std::errc())
      tokens_.fail(fmt::format("the target {}; expected one as sm_80", target));
    if (const uint32_t least = versionForTarget(module_.target); least > module_.version)
      tokens_.fail(fmt::format("the target {} under .version {}; expected at least {}", target,
                               versionText(module_.version), versionText(least)));
    while (tokens_.take(","))
      tokens_.expectWord("a target option");
    tokens_.expect(".address_size");
    if (tokens_.expectInteger() != 64)
      tokens_.fail("expected an address size of 64");
  }

  void parseVersion() {
    const Token token = tokens_.next();
    const char *end = token.text.data() + token.text.size();
    uint32_t major = 0, minor = 0;
    auto [dot, code] = std::from_chars(token.text.data(), end, major);
    if (code != std::errc() || dot == end || *dot != '.' || std::from_chars(dot + 1, end, minor).ptr != end ||
        dot + 1 == end || minor > 9)
      throw PtxError(token.line, fmt::format("the version `{}`; expected one as 8.0", token.text));
    module_.version = 10 * major + minor;
  }

  void parseTopLevel() {
    bool isExtern = false;
    while (tokens_.at(".visible") || tokens_.at(".weak") || tokens_.at(".extern") || tokens_.at(".common"))
      isExtern |= tokens_.next().text == ".extern";
    if (tokens_.take(".entry"))
      module_.kernels.push_back(parseKernel(tokens_, module_, shared_));
    else if (tokens_.at(".func"))
      tokens_.fail("a .func; the emulator takes kernels without calls");
    else if (tokens_.take(".shared"))
      parseShared(isExtern);
    else if (tokens_.at(".global") || tokens_.at(".const"))
      parseVariable(isExtern);
    else if (tokens_.take(".pragma")) {
      tokens_.next();
      tokens_.expect(";");
    } else if (tokens_.take(".section"))
      skipSection();
    else
      tokens_.fail(fmt::format("`{}` outside of a kernel; expected .entry or a variable", tokens_.peek().text));
  }

  void parseShared(bool isExtern) {
    Declaration declaration = parseDeclaration(tokens_);
    if (declaration.isOpen != isExtern)
      tokens_.fail(fmt::format("{}: expected `.extern .shared name[]` or a size", declaration.name));
    tokens_.expect(";");
    shared_.push_back(std::move(declaration));
  }

  void parseVariable(bool isExtern) {
    bool constant = tokens_.next().text == ".const";
    Declaration declaration = parseDeclaration(tokens_);
    if (isExtern || declaration.isOpen)
      tokens_.fail(fmt::format("{}: a variable of another module", declaration.name));
    if (declaration.bytes > maxVariableBytes)
      tokens_.fail(
          fmt::format("{} has {} bytes; expected at most {}", declaration.name, declaration.bytes, maxVariableBytes));
    Variable variable{declaration.name, constant, false, declaration.alignment, declaration.bytes, {}};
    if (tokens_.take("=")) {
      variable.initialised = true;
      parseInitialValue(declaration, variable);
    }
    tokens_.expect(";");
    module_.variables.push_back(std::move(variable));
  }

  void parseInitialValue(const Declaration &declaration, Variable &variable) {
    bool braces = declaration.isArray;
    if (braces)
      tokens_.expect("{");
    do {
      bool negative = tokens_.take("-");
      Token token = tokens_.next();
      if (token.kind != Token::Kind::Number)
        throw PtxError(token.line,
                       fmt::format("the initial value `{}` of {}; expected a number", token.text, declaration.name));
      uint64_t value = numberValue(token.text, negative, declaration.type.bits, token.line);
      size_t start = variable.initial.size(), bytes = declaration.type.bits / 8;
      if (start + bytes > variable.bytes)
        throw PtxError(token.line, fmt::format("more initial values than {} has elements", declaration.name));
      variable.initial.resize(start + bytes);
      std::memcpy(variable.initial.data() + start, &value, bytes);
    } while (braces && tokens_.take(","));
    if (braces)
      tokens_.expect("}");
  }

  void skipSection() {
    tokens_.next();
    tokens_.expect("{");
    while (!tokens_.take("}")) {
      if (tokens_.peek().kind == Token::Kind::End)
        tokens_.fail("a section without its end");
      tokens_.next();
    }
  }

  PtxTokens tokens_;
  Module module_;
  std::vector<Declaration> shared_;
};

} // namespace

// PtxTokens

Token PtxTokens::next() {
  Token token = peek();
  if (place_ + 1 < tokens_.size())
    ++place_;
  return token;
}

bool PtxTokens::take(std::string_view text) {
  if (!at(text))
    return false;
  next();
  return true;
}

void PtxTokens::expect(std::string_view text) {
  if (!take(text))
    fail(fmt::format("`{}`; expected `{}`", peek().text, text));
}

std::string_view PtxTokens::expectWord(std::string_view meaning) {
  if (peek().kind != Token::Kind::Word)
    fail(fmt::format("`{}`; expected {}", peek().text, meaning));
  return next().text;
}

int64_t PtxTokens::expectInteger() {
  bool negative = take("-");
  if (peek().kind != Token::Kind::Number)
    fail(fmt::format("`{}`; expected a number", peek().text));
  Token token = next();
  return static_cast<int64_t>(numberValue(token.text, negative, 64, token.line));
}

uint32_t PtxTokens::expectCount(uint32_t limit) {
  int64_t value = expectInteger();
  if (value < 0 || value > limit)
    fail(fmt::format("{}; expected a number from 0 to {}", value, limit));
  return static_cast<uint32_t>(value);
}

void PtxTokens::fail(const std::string &text) const { throw PtxError(peek().line, text); }

Declaration parseDeclaration(PtxTokens &tokens) {
  Declaration made;
  if (tokens.take(".align")) {
    made.alignment = tokens.expectCount(1024);
    if (!std::has_single_bit(made.alignment))
      tokens.fail(fmt::format("an alignment of {}; expected a power of two", made.alignment));
  }
  std::string_view word = tokens.expectWord("a type");
  std::optional<Type> type = word[0] == '.' ? typeNamed(word.substr(1)) : std::nullopt;
  if (!type || type->bits < 8)
    tokens.fail(fmt::format("`{}`; expected a type of 8 to 64 bits", word));
  made.type = *type;
  while (tokens.take(".ptr") || tokens.take(".global") || tokens.take(".shared") || tokens.take(".const"))
    continue;
  if (tokens.take(".align"))
    tokens.expectCount(1 << 20); // the alignment of the memory to which a pointer points
  made.name = tokens.expectWord("a name");
  made.alignment = std::max<uint32_t>(made.alignment, made.type.bits / 8);
  made.bytes = made.type.bits / 8;
  while (tokens.take("[")) {
    made.isArray = true;
    made.isOpen = tokens.at("]");
    made.bytes *= made.isOpen ? 0 : tokens.expectCount(1 << 30);
    tokens.expect("]");
  }
  return made;
}

Module parsePtx(std::string_view ptx) { return ModuleParser(ptx).parse(); }

} // namespace halftone::emulator
