// A statement on its way to an instruction: its modifiers are taken one by one, its operands become rows of the register file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include "tests/emulator/PtxStatement.h"
#include <initializer_list>
#include <map>
#include <string>

namespace halftone::emulator {

struct Row {
  uint32_t offset = 0;
  uint8_t bits = 0; ///< 1: a predicate
};

/// The names that a kernel's statements may use, and the register file that they fill. A name that a scope `{ }` declares hides the same
/// name outside of it, and ends with it.
class KernelNames {
public:
  explicit KernelNames(Kernel &kernel) : kernel_(kernel), scopes_(1) {}

  void openScope() { scopes_.emplace_back(); }
  void closeScope() { scopes_.pop_back(); }
  /// Whether the innermost scope is the kernel's, inside the module's alone.
  bool isBody() const { return scopes_.size() == 2; }

  // Each of these is false if the innermost scope has declared the name before.
  bool declareRegister(std::string name, uint8_t bits);
  /// A variable whose address is known: of shared memory (its address there) or a parameter (its offset).
  bool declareSymbol(std::string name, uint64_t address);

  /// The row of a declared or special register, if `name` is one.
  std::optional<Row> findRegister(std::string_view name);
  /// A row of `bits` that holds `value` in each lane.
  uint32_t constant(uint64_t value, uint8_t bits);
  /// A row that nobody reads.
  uint32_t unread(uint8_t bits) { return newRow(bits); }
  /// A row that holds the address of `symbol` plus `addend`.
  uint32_t symbol(std::string_view symbol, int64_t addend, uint8_t bits, uint32_t line);

private:
  struct Name {
    std::optional<Row> row; ///< of a register
    uint64_t address = 0;   ///< of a variable
  };

  uint32_t newRow(uint8_t bits);
  const Name *find(std::string_view name) const;

  Kernel &kernel_;
  std::vector<std::map<std::string, Name, std::less<>>> scopes_; ///< the innermost last
  std::map<std::string, Row, std::less<>> specials_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> constants_;
};

class Decoding {
public:
  Decoding(const Statement &statement, KernelNames &names, Instruction &instruction)
      : statement(statement), instruction(instruction), names_(names), taken_(statement.modifiers.size()) {}

  const Statement &statement;
  Instruction &instruction;

  /// Whether the opcode has the modifier; each one must be taken by somebody.
  bool take(std::string_view modifier);
  /// The place in `choices` of the one that the opcode has; without one, `otherwise`, or a failure if that is negative.
  int takeOneOf(std::initializer_list<std::string_view> choices, int otherwise = -1);
  /// The first modifier left that is a type.
  Type takeType();
  /// Fails if a modifier was not taken.
  void finish() const;

  void expectOperands(size_t count) const;
  size_t operandCount() const { return statement.operands.size(); }
  const OperandText &operand(size_t index) const { return statement.operands[index]; }

  /// Operand `index` as a source or a destination of exactly `bits`. Sources may be numbers and symbols.
  uint32_t read(size_t index, uint8_t bits) { return read(operand(index), bits); }
  uint32_t read(const OperandText &text, uint8_t bits);
  uint32_t write(size_t index, uint8_t bits) { return write(operand(index), bits); }
  uint32_t write(const OperandText &text, uint8_t bits);
  /// A register of at least `bits`, or for sources a number of `bits`.
  Row readAtLeast(const OperandText &text, uint8_t bits);
  Row writeAtLeast(const OperandText &text, uint8_t bits);
  /// The predicate of a source, and whether `!` stands before it.
  uint32_t readPredicate(size_t index, bool &negated);
  /// The row and displacement of an address [base + n].
  Row readAddress(size_t index, int64_t &displacement);
  /// Puts the rows of a vector of `count` registers of `bits` at `first`.
  void readVector(size_t index, size_t first, size_t count, uint8_t bits);
  void writeVector(size_t index, size_t first, size_t count, uint8_t bits);
  /// The value of an operand that must be a number.
  uint64_t number(size_t index) const;
  /// Destination, then sources, all of `bits`.
  void readAll(uint8_t bits);

  [[noreturn]] void fail(const std::string &text) const;

private:
  const OperandText &vectorAt(size_t index, size_t count) const;

  KernelNames &names_;
  std::vector<bool> taken_;
};

using Decode = void (*)(Decoding &);

/// The function that decodes the opcode, or null.
Decode findDecoder(std::string_view opcode);

/// The value of a number as written, for an operand of `bits`. Throws PtxError.
uint64_t numberValue(std::string_view text, bool negative, uint8_t bits, uint32_t line);

} // namespace halftone::emulator
