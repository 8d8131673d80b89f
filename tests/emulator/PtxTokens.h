// A cursor over PTX tokens, and the parts of the grammar that modules and kernels share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include "tests/emulator/PtxLexer.h"
#include <string>
#include <vector>

namespace halftone::emulator {

class PtxTokens {
public:
  explicit PtxTokens(std::string_view ptx) : tokens_(ptxTokens(ptx)) {}

  const Token &peek(size_t ahead = 0) const { return tokens_[std::min(place_ + ahead, tokens_.size() - 1)]; }
  Token next();
  bool at(std::string_view text) const { return peek().text == text && peek().kind != Token::Kind::Text; }
  bool take(std::string_view text);
  void expect(std::string_view text);
  std::string_view expectWord(std::string_view meaning);
  /// An integer with an optional `-`.
  int64_t expectInteger();
  uint32_t expectCount(uint32_t limit);

  [[noreturn]] void fail(const std::string &text) const;

private:
  std::vector<Token> tokens_;
  size_t place_ = 0;
};

/// The text after a state space: alignment, type, name, and the number of elements.
struct Declaration {
  std::string name;
  Type type;
  uint32_t alignment = 1;
  uint64_t bytes = 0;
  bool isArray = false;
  bool isOpen = false; ///< name[]: its size is given at launch
};

/// Reads `.align 4 .b8 name[16]`. The state space has already been read.
Declaration parseDeclaration(PtxTokens &tokens);

/// Reads a kernel of `module`, whose version and target are known, from its name to the closing brace. `shared` has the
/// module's shared variables.
Kernel parseKernel(PtxTokens &tokens, const Module &module, const std::vector<Declaration> &shared);

} // namespace halftone::emulator
