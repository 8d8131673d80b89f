// Decoding of a statement to an instruction.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Decoding.h"
#include "tests/emulator/Fault.h"
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

struct NamedType {
  std::string_view name;
  Type type;
};

using Kind = Type::Kind;
constexpr NamedType types[] = {
    {"pred", {Kind::Predicate, 1}},  {"b8", {Kind::Bits, 8}},          {"b16", {Kind::Bits, 16}},
    {"b32", {Kind::Bits, 32}},       {"b64", {Kind::Bits, 64}},        {"u8", {Kind::Unsigned, 8}},
    {"u16", {Kind::Unsigned, 16}},   {"u32", {Kind::Unsigned, 32}},    {"u64", {Kind::Unsigned, 64}},
    {"s8", {Kind::Signed, 8}},       {"s16", {Kind::Signed, 16}},      {"s32", {Kind::Signed, 32}},
    {"s64", {Kind::Signed, 64}},     {"f16", {Kind::Float, 16}},       {"f32", {Kind::Float, 32}},
    {"f64", {Kind::Float, 64}},      {"bf16", {Kind::BFloat, 16}},     {"tf32", {Kind::TFloat, 32}},
    {"f16x2", {Kind::Float, 32, 2}}, {"bf16x2", {Kind::BFloat, 32, 2}}};

struct NamedSpecial {
  std::string_view name;
  Special special;
};

constexpr NamedSpecial specialRegisters[] = {{"%tid.x", Special::TidX},
                                             {"%tid.y", Special::TidY},
                                             {"%tid.z", Special::TidZ},
                                             {"%ntid.x", Special::NtidX},
                                             {"%ntid.y", Special::NtidY},
                                             {"%ntid.z", Special::NtidZ},
                                             {"%ctaid.x", Special::CtaidX},
                                             {"%ctaid.y", Special::CtaidY},
                                             {"%ctaid.z", Special::CtaidZ},
                                             {"%nctaid.x", Special::NctaidX},
                                             {"%nctaid.y", Special::NctaidY},
                                             {"%nctaid.z", Special::NctaidZ},
                                             {"%laneid", Special::LaneId},
                                             {"%warpid", Special::WarpId},
                                             {"%lanemask_lt", Special::LaneMaskLt},
                                             {"%lanemask_le", Special::LaneMaskLe},
                                             {"%lanemask_eq", Special::LaneMaskEq},
                                             {"%lanemask_ge", Special::LaneMaskGe},
                                             {"%lanemask_gt", Special::LaneMaskGt},
                                             {"%dynamic_smem_size", Special::DynamicSharedSize},
                                             {"%total_smem_size", Special::TotalSharedSize}};

template <typename T> void fillRow(std::vector<std::byte> &image, uint32_t offset, uint64_t value) {
  T lane = static_cast<T>(value);
  for (int i = 0; i < warpSize; ++i)
    std::memcpy(image.data() + offset + i * sizeof(T), &lane, sizeof(T));
}

} // namespace

std::optional<Type> typeNamed(std::string_view name) {
  for (const NamedType &row : types)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

uint64_t numberValue(std::string_view text, bool negative, uint8_t bits, uint32_t line) {
  auto bad = [&](std::string_view expected) {
    return PtxError(line, fmt::format("the number {} for {} bits; expected {}", text, bits, expected));
  };
  std::string_view digits = text;
  int base = 10;
  auto startsWith = [&](std::string_view prefix) { return text.size() > 2 && (text.substr(0, 2) == prefix); };
  bool single = startsWith("0f") || startsWith("0F"), twice = startsWith("0d") || startsWith("0D");
  if (single || twice || startsWith("0x") || startsWith("0X")) {
    base = 16;
    digits = text.substr(2);
  } else if (startsWith("0b") || startsWith("0B")) {
    base = 2;
    digits = text.substr(2);
  } else if (text.size() > 1 && text[0] == '0')
    base = 8;
  if (!single && !twice && !digits.empty() && digits.back() == 'U')
    digits.remove_suffix(1);
  uint64_t value = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (code != std::errc() || end != digits.data() + digits.size())
    throw bad("an integer, 0f and 8 hexadecimal digits, or 0d and 16");
  if ((single && (bits != 32 || digits.size() != 8)) || (twice && (bits != 64 || digits.size() != 16)))
    throw bad("0f and 8 digits for 32 bits, 0d and 16 digits for 64");
  if (negative)
    value = (single || twice) ? value ^ (uint64_t(1) << (bits - 1)) : ~value + 1;
  return value;
}

void fillRelocation(Kernel &kernel, const Relocation &relocation, uint64_t address) {
  if (relocation.bits == 32)
    fillRow<uint32_t>(kernel.registerImage, relocation.offset, address + relocation.addend);
  else
    fillRow<uint64_t>(kernel.registerImage, relocation.offset, address + relocation.addend);
}

// KernelNames

uint32_t KernelNames::newRow(uint8_t bits) {
  uint32_t bytes = bits == 1 ? 4 : bits / 8 * warpSize;
  uint32_t offset = (kernel_.registerImage.size() + (bits == 1 ? 3 : 63)) & ~(bits == 1 ? 3u : 63u);
  kernel_.registerImage.resize(offset + bytes);
  return offset;
}

bool KernelNames::declareRegister(std::string name, uint8_t bits) {
  const uint32_t end = kernel_.registerImage.size(), offset = newRow(bits);
  std::vector<OpenRows> &open = kernel_.openRows;
  if (open.empty() || open.back().offset + open.back().bytes != end)
    open.push_back({offset, 0});
  open.back().bytes = kernel_.registerImage.size() - open.back().offset;
  kernel_.registers += bits == 1 ? 0 : (bits + 31) / 32;
  return scopes_.back().try_emplace(std::move(name), Name{Row{offset, bits}}).second;
}

bool KernelNames::declareSymbol(std::string name, uint64_t address) {
  return scopes_.back().try_emplace(std::move(name), Name{std::nullopt, address}).second;
}

const KernelNames::Name *KernelNames::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

std::optional<Row> KernelNames::findRegister(std::string_view name) {
  if (const Name *found = find(name))
    return found->row;
  if (auto found = specials_.find(name); found != specials_.end())
    return found->second;
  if (name == "WARP_SZ")
    return Row{constant(warpSize, 32), 32};
  for (const NamedSpecial &row : specialRegisters) {
    if (row.name != name)
      continue;
    Row made{newRow(32), 32};
    kernel_.specials.push_back({row.special, made.offset});
    specials_[std::string(name)] = made;
    return made;
  }
  return std::nullopt;
}

uint32_t KernelNames::constant(uint64_t value, uint8_t bits) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  auto [place, isNew] = constants_.try_emplace({value, bits}, 0);
  if (!isNew)
    return place->second;
  uint32_t offset = place->second = newRow(bits == 8 ? 16 : bits);
  std::vector<std::byte> &image = kernel_.registerImage;
  if (bits == 1) {
    LaneMask mask = value ? allLanes : 0;
    std::memcpy(image.data() + offset, &mask, sizeof(mask));
  } else if (bits <= 16)
    fillRow<uint16_t>(image, offset, value);
  else if (bits == 32)
    fillRow<uint32_t>(image, offset, value);
  else
    fillRow<uint64_t>(image, offset, value);
  return offset;
}

uint32_t KernelNames::symbol(std::string_view symbol, int64_t addend, uint8_t bits, uint32_t line) {
  if (const Name *known = find(symbol); known && !known->row)
    return constant(known->address + addend, bits);
  uint32_t offset = newRow(bits);
  kernel_.relocations.push_back({offset, bits, std::string(symbol), addend, line});
  return offset;
}

// Decoding

void Decoding::fail(const std::string &text) const {
  std::string opcode(statement.opcode);
  for (std::string_view modifier : statement.modifiers)
    opcode += fmt::format(".{}", modifier);
  throw PtxError(statement.line, fmt::format("{}: {}", opcode, text));
}

bool Decoding::take(std::string_view modifier) {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i] || statement.modifiers[i] != modifier)
      continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

int Decoding::takeOneOf(std::initializer_list<std::string_view> choices, int otherwise) {
  int place = 0;
  for (std::string_view choice : choices) {
    if (take(choice))
      return place;
    ++place;
  }
  if (otherwise < 0)
    fail(fmt::format("expected one of .{}", fmt::join(choices, " .")));
  return otherwise;
}

Type Decoding::takeType() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    std::optional<Type> type = taken_[i] ? std::nullopt : typeNamed(statement.modifiers[i]);
    if (!type)
      continue;
    taken_[i] = true;
    return *type;
  }
  fail("expected a type");
}

void Decoding::finish() const {
  for (size_t i = 0; i < taken_.size(); ++i)
    if (!taken_[i])
      fail(fmt::format("the emulator does not take the modifier .{} here", statement.modifiers[i]));
}

void Decoding::expectOperands(size_t count) const {
  if (operandCount() != count)
    fail(fmt::format("{} operands; expected {}", operandCount(), count));
}

Row Decoding::readAtLeast(const OperandText &text, uint8_t bits) {
  if (text.kind == OperandText::Kind::Number)
    return {names_.constant(numberValue(text.text, text.negated, bits, statement.line), bits),
            uint8_t(bits == 8 ? 16 : bits)};
  if (text.kind != OperandText::Kind::Word || text.negated)
    fail("expected a register, a number or a variable as source");
  if (std::optional<Row> row = names_.findRegister(text.text)) {
    if (text.addend)
      fail(fmt::format("a number added to the register {}", text.text));
    if (row->bits < bits || (row->bits == 1) != (bits == 1))
      fail(fmt::format("{} has {} bits; expected {}", text.text, row->bits, bits));
    return *row;
  }
  if (text.text[0] == '%' || bits < 32)
    fail(fmt::format("the register {} is not declared", text.text));
  return {names_.symbol(text.text, text.addend, bits, statement.line), bits};
}

Row Decoding::writeAtLeast(const OperandText &text, uint8_t bits) {
  if (text.kind == OperandText::Kind::Sink)
    return {names_.unread(bits == 8 ? uint8_t(16) : bits), uint8_t(bits == 8 ? 16 : bits)};
  std::optional<Row> row = text.kind == OperandText::Kind::Word ? names_.findRegister(text.text) : std::nullopt;
  if (!row || text.negated || text.addend)
    fail(fmt::format("expected a declared register as destination{}{}", text.text.empty() ? "" : ", not ", text.text));
  for (const NamedSpecial &special : specialRegisters)
    if (special.name == text.text)
      fail(fmt::format("{} as destination; it can only be read", text.text));
  if (row->bits < bits || (row->bits == 1) != (bits == 1))
    fail(fmt::format("{} has {} bits; expected {}", text.text, row->bits, bits));
  return *row;
}

uint32_t Decoding::read(const OperandText &text, uint8_t bits) {
  Row row = readAtLeast(text, bits);
  if (row.bits != bits)
    fail(fmt::format("{} has {} bits; expected {}", text.text, row.bits, bits));
  return row.offset;
}

uint32_t Decoding::write(const OperandText &text, uint8_t bits) {
  Row row = writeAtLeast(text, bits);
  if (row.bits != bits)
    fail(fmt::format("{} has {} bits; expected {}", text.text, row.bits, bits));
  return row.offset;
}

uint32_t Decoding::readPredicate(size_t index, bool &negated) {
  OperandText text = operand(index);
  negated = text.negated && text.kind == OperandText::Kind::Word;
  if (negated)
    text.negated = false;
  return read(text, 1);
}

Row Decoding::readAddress(size_t index, int64_t &displacement) {
  const OperandText &text = operand(index);
  if (text.kind != OperandText::Kind::Address)
    fail(fmt::format("operand {}: expected an address in brackets", index + 1));
  displacement = text.addend;
  if (text.baseIsNumber)
    return {names_.constant(numberValue(text.text, false, 64, statement.line), 64), 64};
  std::optional<Row> row = names_.findRegister(text.text);
  if (row && row->bits < 32)
    fail(fmt::format("{} has {} bits; expected an address of 32 or 64", text.text, row->bits));
  if (!row && text.text[0] == '%')
    fail(fmt::format("the register {} is not declared", text.text));
  return row ? *row : Row{names_.symbol(text.text, 0, 64, statement.line), 64};
}

const OperandText &Decoding::vectorAt(size_t index, size_t count) const {
  const OperandText &text = operand(index);
  if (text.kind != OperandText::Kind::Vector || text.parts.size() != count)
    fail(fmt::format("operand {}: expected {} registers in braces", index + 1, count));
  return text;
}

void Decoding::readVector(size_t index, size_t first, size_t count, uint8_t bits) {
  const OperandText &text = vectorAt(index, count);
  for (size_t i = 0; i < count; ++i)
    instruction.operands[first + i] = read(text.parts[i], bits);
}

void Decoding::writeVector(size_t index, size_t first, size_t count, uint8_t bits) {
  const OperandText &text = vectorAt(index, count);
  for (size_t i = 0; i < count; ++i)
    instruction.operands[first + i] = write(text.parts[i], bits);
}

uint64_t Decoding::number(size_t index) const {
  if (index >= operandCount() || operand(index).kind != OperandText::Kind::Number)
    fail(fmt::format("operand {}: expected a number", index + 1));
  return numberValue(operand(index).text, operand(index).negated, 64, statement.line);
}

void Decoding::readAll(uint8_t bits) {
  instruction.operands[0] = write(0, bits);
  for (size_t i = 1; i < operandCount(); ++i)
    instruction.operands[i] = read(i, bits);
}

} // namespace halftone::emulator
