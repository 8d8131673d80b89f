// Bit instructions: logic, shifts, fields, counts and byte permutations.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <algorithm>
#include <bit>

namespace halftone::emulator {

namespace {

constexpr auto bitAnd = [](auto a, auto b) { return a & b; };
constexpr auto bitOr = [](auto a, auto b) { return a | b; };
constexpr auto bitXor = [](auto a, auto b) { return a ^ b; };
constexpr auto bitNot = [](auto a) { return ~a; };

template <typename T> constexpr uint32_t bitsOf = sizeof(T) * 8;

// Shifts by at least the width give 0, or for signed numbers all sign bits.
constexpr auto shiftLeft = []<typename T>(T a, uint32_t by) {
  return by >= bitsOf<T> ? T(0) : static_cast<T>(uint64_t(a) << by);
};
constexpr auto shiftRight = []<typename T>(T a, uint32_t by) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> std::min(by, bitsOf<T> - 1));
  else
    return by >= bitsOf<T> ? T(0) : static_cast<T>(a >> by);
};

// Bits of the pair (high, low), shifted left or right.
uint32_t funnelLeft(uint32_t low, uint32_t high, uint32_t by) { return ((uint64_t(high) << 32 | low) << by) >> 32; }
uint32_t funnelRight(uint32_t low, uint32_t high, uint32_t by) { return (uint64_t(high) << 32 | low) >> by; }
constexpr auto leftWrap = [](uint32_t a, uint32_t b, uint32_t c) { return funnelLeft(a, b, c & 31); };
constexpr auto leftClamp = [](uint32_t a, uint32_t b, uint32_t c) { return c >= 32 ? a : funnelLeft(a, b, c); };
constexpr auto rightWrap = [](uint32_t a, uint32_t b, uint32_t c) { return funnelRight(a, b, c & 31); };
constexpr auto rightClamp = [](uint32_t a, uint32_t b, uint32_t c) { return c >= 32 ? b : funnelRight(a, b, c); };

constexpr auto extract = []<typename T>(T a, uint32_t start, uint32_t length) {
  constexpr uint32_t bits = bitsOf<T>;
  start &= 255;
  length &= 255;
  if (length == 0)
    return T(0);
  uint64_t raw = static_cast<std::make_unsigned_t<T>>(a);
  uint64_t mask = length >= 64 ? ~uint64_t(0) : (uint64_t(1) << length) - 1;
  uint64_t field = start >= bits ? 0 : raw >> start & mask;
  uint32_t top = std::min(start + length - 1, bits - 1);
  bool fillsWithSign = std::is_signed_v<T> && (raw >> top & 1);
  uint32_t known = start > top ? 0 : top - start + 1;
  if (fillsWithSign && known < 64)
    field |= ~uint64_t(0) << known;
  return static_cast<T>(field);
};

constexpr auto insert = []<typename T>(T a, T b, uint32_t start, uint32_t length) {
  start &= 255;
  length &= 255;
  if (start >= bitsOf<T> || length == 0)
    return b;
  uint64_t mask = (length >= 64 ? ~uint64_t(0) : (uint64_t(1) << length) - 1) << start;
  return static_cast<T>((uint64_t(b) & ~mask) | (uint64_t(a) << start & mask));
};

constexpr auto countOnes = [](auto a) { return std::popcount(a); };
constexpr auto countLeadingZeros = [](auto a) { return std::countl_zero(a); };
constexpr auto reversed = []<typename T>(T a) {
  T result = 0;
  for (uint32_t i = 0; i < bitsOf<T>; ++i)
    result |= (a >> i & 1) << (bitsOf<T> - 1 - i);
  return result;
};

constexpr auto permuted = [](uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t choice = selector >> (4 * i) & 15;
    uint32_t byte = bytes >> (8 * (choice & 7)) & 255;
    if (choice & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
};

constexpr auto looked = [](uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
};

template <auto operation> void decodeLogic(Decoding &decoding, char name) {
  Type type = decoding.takeType();
  if (type.kind == Type::Kind::Predicate)
    return decodePredicateLogic(decoding, name);
  decoding.expectOperands(3);
  decoding.instruction.execute = withBits(
      decoding, type, [](auto t) -> Execute { return mapLanes<operation, decltype(t), decltype(t), decltype(t)>; });
  decoding.readAll(type.bits);
}

/// Reads the operands after the first `wide` ones as 32 bits.
void readFieldOperands(Decoding &decoding, uint8_t bits, size_t wide) {
  decoding.instruction.operands[0] = decoding.write(0, bits);
  for (size_t i = 1; i < decoding.operandCount(); ++i)
    decoding.instruction.operands[i] = decoding.read(i, i < wide ? bits : 32);
}

template <auto operation> void decodeShift(Decoding &decoding) {
  Type type = decoding.takeType();
  decoding.expectOperands(3);
  decoding.instruction.execute = withInteger(
      decoding, type, [](auto t) -> Execute { return mapLanes<operation, decltype(t), decltype(t), uint32_t>; });
  readFieldOperands(decoding, type.bits, 2);
}

Type expectBitsType(Decoding &decoding) {
  Type type = decoding.takeType();
  if (type.bits != 32 && type.bits != 64)
    decoding.fail("expected a type of 32 or 64 bits");
  return type;
}

template <auto operation> void decodeCount(Decoding &decoding) {
  Type type = expectBitsType(decoding);
  decoding.expectOperands(2);
  decoding.instruction.execute = type.bits == 32 ? Execute(mapLanes<operation, uint32_t, uint32_t>)
                                                 : Execute(mapLanes<operation, uint32_t, uint64_t>);
  decoding.instruction.operands = {decoding.write(0, 32), decoding.read(1, type.bits)};
}

} // namespace

void decodeAnd(Decoding &decoding) { decodeLogic<bitAnd>(decoding, '&'); }
void decodeOr(Decoding &decoding) { decodeLogic<bitOr>(decoding, '|'); }
void decodeXor(Decoding &decoding) { decodeLogic<bitXor>(decoding, '^'); }
void decodeShl(Decoding &decoding) { decodeShift<shiftLeft>(decoding); }
void decodeShr(Decoding &decoding) { decodeShift<shiftRight>(decoding); }
void decodePopc(Decoding &decoding) { decodeCount<countOnes>(decoding); }
void decodeClz(Decoding &decoding) { decodeCount<countLeadingZeros>(decoding); }

void decodeNot(Decoding &decoding) {
  Type type = decoding.takeType();
  if (type.kind == Type::Kind::Predicate)
    return decodePredicateLogic(decoding, '!');
  decoding.expectOperands(2);
  decoding.instruction.execute =
      withBits(decoding, type, [](auto t) -> Execute { return mapLanes<bitNot, decltype(t), decltype(t)>; });
  decoding.readAll(type.bits);
}

void decodeShf(Decoding &decoding) {
  bool left = decoding.takeOneOf({"l", "r"}) == 0, wraps = decoding.takeOneOf({"wrap", "clamp"}) == 0;
  if (decoding.takeType() != Type{Type::Kind::Bits, 32})
    decoding.fail("expected .b32");
  decoding.expectOperands(4);
  using U = uint32_t;
  Execute toLeft = wraps ? Execute(mapLanes<leftWrap, U, U, U, U>) : Execute(mapLanes<leftClamp, U, U, U, U>);
  Execute toRight = wraps ? Execute(mapLanes<rightWrap, U, U, U, U>) : Execute(mapLanes<rightClamp, U, U, U, U>);
  decoding.instruction.execute = left ? toLeft : toRight;
  decoding.readAll(32);
}

void decodeBfe(Decoding &decoding) {
  Type type = expectBitsType(decoding);
  decoding.expectOperands(4);
  decoding.instruction.execute = withInteger(decoding, type, [](auto t) -> Execute {
    return mapLanes<extract, decltype(t), decltype(t), uint32_t, uint32_t>;
  });
  readFieldOperands(decoding, type.bits, 2);
}

void decodeBfi(Decoding &decoding) {
  Type type = expectBitsType(decoding);
  decoding.expectOperands(5);
  decoding.instruction.execute = withBits(decoding, type, [](auto t) -> Execute {
    return mapLanes<insert, decltype(t), decltype(t), decltype(t), uint32_t, uint32_t>;
  });
  readFieldOperands(decoding, type.bits, 3);
}

void decodeBrev(Decoding &decoding) {
  Type type = expectBitsType(decoding);
  decoding.expectOperands(2);
  decoding.instruction.execute = type.bits == 32 ? Execute(mapLanes<reversed, uint32_t, uint32_t>)
                                                 : Execute(mapLanes<reversed, uint64_t, uint64_t>);
  decoding.readAll(type.bits);
}

void decodePrmt(Decoding &decoding) {
  if (decoding.takeType() != Type{Type::Kind::Bits, 32})
    decoding.fail("expected .b32");
  decoding.expectOperands(4);
  decoding.instruction.execute = mapLanes<permuted, uint32_t, uint32_t, uint32_t, uint32_t>;
  decoding.readAll(32);
}

void decodeLop3(Decoding &decoding) {
  if (decoding.takeType() != Type{Type::Kind::Bits, 32})
    decoding.fail("expected .b32");
  decoding.expectOperands(5);
  decoding.instruction.execute = mapLanes<looked, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  decoding.readAll(32);
}

} // namespace halftone::emulator
