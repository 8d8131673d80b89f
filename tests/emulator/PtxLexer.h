// The tokens of PTX text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace halftone::emulator {

struct Token {
  enum class Kind : uint8_t { Word, Number, Text, Mark, End };
  Kind kind = Kind::End;
  std::string_view text; ///< a view into the PTX
  uint32_t line = 0;     ///< from 1
};

/// Splits `ptx` into words (names, registers, opcodes and directives with their dots), numbers, quoted texts and single
/// punctuation marks; the last token is an End. Comments and the lines of .file and .loc are dropped. The tokens point
/// into `ptx`.
std::vector<Token> ptxTokens(std::string_view ptx);

} // namespace halftone::emulator
