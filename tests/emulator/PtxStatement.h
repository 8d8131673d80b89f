// One statement of PTX as written: an opcode with its modifiers, and its operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace halftone::emulator {

struct OperandText {
  enum class Kind : uint8_t { Word, Number, Sink, Vector, Pair, Address };
  Kind kind = Kind::Word;
  std::string_view text;          ///< Word, Number; Address: its base
  bool baseIsNumber = false;      ///< Address
  bool negated = false;           ///< Word: preceded by `!`; Number: preceded by `-`
  int64_t addend = 0;             ///< Word, Address: a number added to it
  std::vector<OperandText> parts; ///< Vector {a, b}; Pair p|q
};

struct Statement {
  std::string_view opcode;                 ///< "add" of add.rn.f32
  std::vector<std::string_view> modifiers; ///< "rn", "f32"
  std::string_view guard;                  ///< @p; empty if absent
  bool guardNegated = false;
  std::vector<OperandText> operands;
  uint32_t line = 0;
};

/// Splits "add.rn.f32" into the statement's opcode and modifiers.
inline void splitOpcode(std::string_view text, Statement &statement) {
  size_t dot = text.find('.');
  statement.opcode = text.substr(0, dot);
  while (dot != std::string_view::npos) {
    size_t next = text.find('.', dot + 1);
    statement.modifiers.push_back(text.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
}

} // namespace halftone::emulator
