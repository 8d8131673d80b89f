// Decoding of a statement to an instruction: modifiers are taken one by one, operands become rows of the register file.
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
  uint8_t bits = 0; ///< 1 for a predicate
};

/// The names that the statements of a kernel may use, and the register file that they fill. A name declared in a scope
/// `{ }` hides the same name outside of it, and ends with the scope.
class KernelNames {
public:
  explicit KernelNames(Kernel &kernel) : kernel_(kernel), scopes_(1) {}

  void openScope() { scopes_.emplace_back(); }
  void closeScope() { scopes_.pop_back(); }
  /// Returns true if the innermost scope is the kernel's, directly inside the module's.
  bool isBody() const { return scopes_.size() == 2; }

  // These return false if the innermost scope has already declared the name.
  bool declareRegister(std::string name, uint8_t bits);
  /// A variable with a known address: of shared memory (its address there) or a parameter (its offset).
  bool declareSymbol(std::string name, uint64_t address);

  /// The row of a declared or special register `name`, if there is one.
  std::optional<Row> findRegister(std::string_view name);
  /// A row with `value` in each lane.
  uint32_t constant(uint64_t value, uint8_t bits);
  /// A row without readers.
  uint32_t unread(uint8_t bits) { return newRow(bits); }
  /// A row with the address of `symbol` plus `addend`.
  uint32_t symbol(std::string_view symbol, int64_t addend, uint8_t bits, uint32_t line);

private:
  struct Name {
    std::optional<Row> row; ///< for a register
    uint64_t address = 0;   ///< for a variable
  };

  uint32_t newRow(uint8_t bits);
  const Name *find(std::string_view name) const;

  Kernel &kernel_;
  std::vector<std::map<std::string, Name, std::less<>>> scopes_; ///< the innermost is last
  std::map<std::string, Row, std::less<>> specials_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> constants_;
};

class Decoding {
public:
  Decoding(const Statement &statement, KernelNames &names, Instruction &instruction)
      : statement(statement), instruction(instruction), names_(names), taken_(statement.modifiers.size()) {}

  const Statement &statement;
  Instruction &instruction;

  /// Returns true if the opcode has the modifier. Each modifier must be taken once.
  bool take(std::string_view modifier);
  /// The index in `choices` of the modifier that the opcode has. Without one, returns `otherwise`, or fails if that is
  /// negative.
  int takeOneOf(std::initializer_list<std::string_view> choices, int otherwise = -1);
  /// Takes the first remaining modifier that is a type.
  Type takeType();
  /// Fails if a modifier was not taken.
  void finish() const;

  void expectOperands(size_t count) const;
  size_t operandCount() const { return statement.operands.size(); }
  const OperandText &operand(size_t index) const { return statement.operands[index]; }

  /// Operand `index` as a source or a destination of exactly `bits` bits. Sources may be numbers and symbols.
  uint32_t read(size_t index, uint8_t bits) { return read(operand(index), bits); }
  uint32_t read(const OperandText &text, uint8_t bits);
  uint32_t write(size_t index, uint8_t bits) { return write(operand(index), bits); }
  uint32_t write(const OperandText &text, uint8_t bits);
  /// A register of at least `bits` bits, or for sources a number of `bits` bits.
  Row readAtLeast(const OperandText &text, uint8_t bits);
  Row writeAtLeast(const OperandText &text, uint8_t bits);
  /// The predicate of a source, and whether it is preceded by `!`.
  uint32_t readPredicate(size_t index, bool &negated);
  /// The row and displacement of an address [base + n].
  Row readAddress(size_t index, int64_t &displacement);
  /// Writes the rows of a vector of `count` registers of `bits` bits to operands from `first` on.
  void readVector(size_t index, size_t first, size_t count, uint8_t bits);
  void writeVector(size_t index, size_t first, size_t count, uint8_t bits);
  /// The value of an operand that must be a number.
  uint64_t number(size_t index) const;
  /// Reads a destination, then sources, all of `bits` bits.
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

/// The value of a number as written, for an operand of `bits` bits. Throws PtxError.
uint64_t numberValue(std::string_view text, bool negative, uint8_t bits, uint32_t line);

} // namespace halftone::emulator
