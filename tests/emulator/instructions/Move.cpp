// Moves between registers, packing and unpacking of registers, and address conversions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

constexpr auto same = [](auto a) { return a; };

void movePredicate(Warp &warp, const Instruction &instruction, LaneMask active) {
  LaneMask &result = warp.predicate(instruction.operands[0]);
  result = (result & ~active) | (warp.predicate(instruction.operands[1]) & active);
}

/// operands[0] = the parts operands[1], ..., the first one lowest.
template <typename Whole, typename Part> void pack(Warp &warp, const Instruction &instruction, LaneMask active) {
  constexpr size_t parts = sizeof(Whole) / sizeof(Part);
  Whole *result = warp.lanes<Whole>(instruction.operands[0]);
  eachLane(active, [&](int lane) {
    Whole whole = 0;
    for (size_t i = 0; i < parts; ++i)
      whole |= static_cast<Whole>(static_cast<Whole>(warp.lanes<Part>(instruction.operands[1 + i])[lane])
                                  << (i * sizeof(Part) * 8));
    result[lane] = whole;
  });
}

template <typename Whole, typename Part> void split(Warp &warp, const Instruction &instruction, LaneMask active) {
  constexpr size_t parts = sizeof(Whole) / sizeof(Part);
  const Whole *source = warp.lanes<Whole>(instruction.operands[0]);
  eachLane(active, [&](int lane) {
    Whole whole = source[lane];
    for (size_t i = 0; i < parts; ++i)
      warp.lanes<Part>(instruction.operands[1 + i])[lane] = static_cast<Part>(whole >> (i * sizeof(Part) * 8));
  });
}

template <bool packs> Execute choosePacking(const Decoding &decoding, uint8_t bits, size_t parts) {
  if (bits == 32 && parts == 2)
    return packs ? pack<uint32_t, uint16_t> : split<uint32_t, uint16_t>;
  if (bits == 64 && parts == 2)
    return packs ? pack<uint64_t, uint32_t> : split<uint64_t, uint32_t>;
  if (bits == 64 && parts == 4)
    return packs ? pack<uint64_t, uint16_t> : split<uint64_t, uint16_t>;
  decoding.fail(fmt::format("{} registers for {} bits; expected 2, or 4 for 64 bits", parts, bits));
}

constexpr uint64_t windowBytes = uint64_t(1) << 32;

void addWindow(Warp &warp, const Instruction &instruction, LaneMask active) {
  uint64_t *result = warp.lanes<uint64_t>(instruction.operands[0]);
  const uint64_t *source = warp.lanes<uint64_t>(instruction.operands[1]);
  eachLane(active, [&](int lane) { result[lane] = source[lane] + instruction.mode; });
}

void removeWindow(Warp &warp, const Instruction &instruction, LaneMask active) {
  uint64_t *result = warp.lanes<uint64_t>(instruction.operands[0]);
  const uint64_t *source = warp.lanes<uint64_t>(instruction.operands[1]);
  eachLane(active, [&](int lane) {
    warp.atLane(lane);
    if (source[lane] - instruction.mode >= windowBytes)
      warp.fail(fmt::format("{:#x} as an address of a state space; expected one inside it", source[lane]));
    result[lane] = source[lane] - instruction.mode;
  });
}

} // namespace

void decodeMov(Decoding &decoding) {
  Type type = decoding.takeType();
  decoding.expectOperands(2);
  Instruction &made = decoding.instruction;
  const OperandText &to = decoding.operand(0), &from = decoding.operand(1);
  if (type.kind == Type::Kind::Predicate) {
    made.execute = movePredicate;
    decoding.readAll(1);
  } else if (from.kind == OperandText::Kind::Vector) {
    size_t parts = from.parts.size();
    made.execute = choosePacking<true>(decoding, type.bits, parts);
    made.operands[0] = decoding.write(0, type.bits);
    decoding.readVector(1, 1, parts, type.bits / parts);
  } else if (to.kind == OperandText::Kind::Vector) {
    size_t parts = to.parts.size();
    made.execute = choosePacking<false>(decoding, type.bits, parts);
    made.operands[0] = decoding.read(1, type.bits);
    decoding.writeVector(0, 1, parts, type.bits / parts);
  } else {
    made.execute = withBits(decoding, type, [](auto t) -> Execute { return mapLanes<same, decltype(t), decltype(t)>; });
    decoding.readAll(type.bits);
  }
}

void decodeCvta(Decoding &decoding) {
  bool toSpace = decoding.take("to");
  int space = decoding.takeOneOf({"global", "const", "shared", "shared::cta", "param", "param::entry"});
  Type type = decoding.takeType();
  decoding.expectOperands(2);
  if (type.bits != 64)
    decoding.fail("expected .u64");
  decoding.instruction.mode = space < 2 ? 0 : space < 4 ? sharedWindow : paramWindow;
  bool checks = toSpace && space >= 2;
  decoding.instruction.execute = checks ? removeWindow : addWindow;
  decoding.readAll(64);
}

} // namespace halftone::emulator
