// Loads and stores of one to four elements, at most 16 bytes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <concepts>

namespace halftone::emulator {

namespace {

/// Memory has elements of type Element, registers have the width of Register: loads extend by the sign of the element,
/// stores truncate.
template <typename Element, typename Register> void load(Warp &warp, const Instruction &instruction, LaneMask active) {
  const uint32_t bytes = instruction.count * sizeof(Element);
  for (; active; active &= active - 1) {
    int lane = std::countr_zero(active);
    Element elements[4];
    uint64_t address = warp.addressOf(instruction.operands[0], instruction.addressBits, instruction.displacement, lane);
    warp.load(lane, instruction.space, {address, bytes}, elements);
    for (int i = 0; i < instruction.count; ++i)
      warp.lanes<Register>(instruction.operands[1 + i])[lane] = static_cast<Register>(elements[i]);
  }
}

template <typename Element, typename Register> void store(Warp &warp, const Instruction &instruction, LaneMask active) {
  const uint32_t bytes = instruction.count * sizeof(Element);
  for (; active; active &= active - 1) {
    int lane = std::countr_zero(active);
    Element elements[4];
    for (int i = 0; i < instruction.count; ++i)
      elements[i] = static_cast<Element>(warp.lanes<Register>(instruction.operands[1 + i])[lane]);
    uint64_t address = warp.addressOf(instruction.operands[0], instruction.addressBits, instruction.displacement, lane);
    warp.store(lane, instruction.space, {address, bytes}, elements);
  }
}

template <typename Element> Execute chooseLoad(uint8_t registerBits) {
  if (registerBits == 16)
    return load<Element, uint16_t>;
  return registerBits == 32 ? load<Element, uint32_t> : load<Element, uint64_t>;
}

template <typename Element> Execute chooseStore(uint8_t registerBits) {
  if (registerBits == 16)
    return store<Element, uint16_t>;
  return registerBits == 32 ? store<Element, uint32_t> : store<Element, uint64_t>;
}

Execute chooseAccess(Type type, uint8_t registerBits, bool isLoad) {
  auto choose = [&](auto element) {
    using E = decltype(element);
    return isLoad ? chooseLoad<E>(registerBits) : chooseStore<E>(registerBits);
  };
  switch (type.bits) {
  case 8:
    return type.isSigned() ? choose(int8_t()) : choose(uint8_t());
  case 16:
    return type.isSigned() ? choose(int16_t()) : choose(uint16_t());
  case 32:
    return type.isSigned() ? choose(int32_t()) : choose(uint32_t());
  default:
    return choose(uint64_t());
  }
}

Space takeSpace(Decoding &decoding) {
  switch (decoding.takeOneOf({"global", "shared", "shared::cta", "param", "param::entry", "const", "local"}, 7)) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
    return Space::Shared;
  case 3:
  case 4:
    return Space::Param;
  case 5:
    return Space::Const;
  case 6:
    decoding.fail("the emulator has no local memory; expected all values of a thread in registers");
  default:
    return Space::Generic;
  }
}

/// Cache hints, orders and scopes: blocks do not depend on each other here, so none of them changes a result.
void takeHints(Decoding &decoding) {
  decoding.takeOneOf({"weak", "volatile", "relaxed", "acquire", "release"}, 5);
  decoding.takeOneOf({"cta", "gpu", "sys"}, 3);
  decoding.take("nc");
  decoding.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"}, 7);
  decoding.takeOneOf(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"}, 5);
  decoding.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}, 3);
}

void decodeAccess(Decoding &decoding, bool isLoad) {
  Instruction &made = decoding.instruction;
  takeHints(decoding);
  made.space = takeSpace(decoding);
  made.count = 1 << decoding.takeOneOf({"v1", "v2", "v4"}, 0);
  Type type = decoding.takeType();
  decoding.expectOperands(2);
  if (type.bits < 8 || type.bits / 8 * made.count > 16)
    decoding.fail("expected at most 16 bytes in elements of 8 to 64 bits");
  Row address = decoding.readAddress(isLoad ? 1 : 0, made.displacement);
  made.operands[0] = address.offset;
  made.addressBits = address.bits;
  const OperandText &value = decoding.operand(isLoad ? 0 : 1);
  bool isVector = value.kind == OperandText::Kind::Vector;
  if ((isVector ? value.parts.size() : 1) != made.count)
    decoding.fail("expected as many registers as elements");
  for (size_t i = 0; i < made.count; ++i) {
    const OperandText &part = isVector ? value.parts[i] : value;
    Row row = isLoad ? decoding.writeAtLeast(part, type.bits) : decoding.readAtLeast(part, type.bits);
    if (i && row.bits != made.registerBits)
      decoding.fail("expected registers of one width");
    made.operands[1 + i] = row.offset;
    made.registerBits = row.bits;
  }
  made.use = isLoad ? MemoryUse::Load : MemoryUse::Store;
  made.accessBytes = type.bits / 8 * made.count;
  made.execute = chooseAccess(type, made.registerBits, isLoad);
}

void doNothing(Warp &, const Instruction &, LaneMask) {}

} // namespace

void decodeLd(Decoding &decoding) { decodeAccess(decoding, true); }

void decodeSt(Decoding &decoding) {
  decodeAccess(decoding, false);
  if (decoding.instruction.space == Space::Param || decoding.instruction.space == Space::Const)
    decoding.fail("expected global or shared memory");
}

void decodeFence(Decoding &decoding) {
  decoding.takeOneOf({"sc", "acq_rel"}, 2);
  decoding.takeOneOf({"cta", "gpu", "sys", "gl"});
  decoding.expectOperands(0);
  decoding.instruction.execute = doNothing;
}

void decodePrefetch(Decoding &decoding) {
  decoding.take("global");
  decoding.takeOneOf({"L1", "L2"});
  decoding.expectOperands(1);
  int64_t displacement = 0;
  decoding.readAddress(0, displacement);
  decoding.instruction.execute = doNothing;
}

void decodeAtomic(Decoding &decoding) {
  decoding.fail("the emulator refuses atomics; expected results that do not depend on the order of threads");
}

} // namespace halftone::emulator
