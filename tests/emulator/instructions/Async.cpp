// cp.async: copies of 4, 8 or 16 bytes from global to shared memory that happen late.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// operands: target, source, number of source bytes if given. mode: number of target bytes.
void beginCopy(Warp &warp, const Instruction &instruction, LaneMask active) {
  const uint32_t bytes = static_cast<uint32_t>(instruction.mode);
  const uint32_t sourceOperand = instruction.operands[2];
  for (; active; active &= active - 1) {
    int lane = std::countr_zero(active);
    warp.atLane(lane);
    uint32_t given = sourceOperand == noOperand ? bytes : warp.lanes<uint32_t>(sourceOperand)[lane];
    if (given > bytes)
      warp.fail(fmt::format("a copy of {} bytes from a source of {}; expected at most as many", bytes, given));
    AsyncCopy copy;
    copy.target = {warp.addressOf(instruction.operands[0], instruction.addressBits, instruction.displacement, lane),
                   bytes};
    copy.source = {
        warp.addressOf(instruction.operands[1], instruction.sourceBits, instruction.secondDisplacement, lane), given};
    if (given)
      checkAlignment({copy.source.address, bytes}, "copies");
    warp.copies().begin(warp, lane, copy);
  }
}

void commitGroup(Warp &warp, const Instruction &, LaneMask active) {
  for (; active; active &= active - 1)
    warp.copies().commit(std::countr_zero(active));
}

void waitGroup(Warp &warp, const Instruction &instruction, LaneMask active) {
  for (; active; active &= active - 1)
    warp.copies().wait(warp, std::countr_zero(active), instruction.mode);
}

void waitAll(Warp &warp, const Instruction &, LaneMask active) {
  for (; active; active &= active - 1)
    warp.copies().waitAll(warp, std::countr_zero(active));
}

void decodeCopy(Decoding &decoding) {
  Instruction &made = decoding.instruction;
  bool pastFirstCache = decoding.takeOneOf({"ca", "cg"}) == 1;
  if (!decoding.take("shared::cta") && !decoding.take("shared"))
    decoding.fail("expected .shared");
  if (!decoding.take("global"))
    decoding.fail("expected .global");
  decoding.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}, 3);
  if (decoding.operandCount() != 3 && decoding.operandCount() != 4)
    decoding.fail("expected 3 or 4 operands");
  Row target = decoding.readAddress(0, made.displacement), source = decoding.readAddress(1, made.secondDisplacement);
  made.mode = decoding.number(2);
  if (made.mode != 16 && (pastFirstCache || (made.mode != 4 && made.mode != 8)))
    decoding.fail("expected 16 bytes, or for .ca 4, 8 or 16");
  made.addressBits = target.bits;
  made.sourceBits = source.bits;
  made.operands = {target.offset, source.offset, decoding.operandCount() == 4 ? decoding.read(3, 32) : noOperand};
  made.use = MemoryUse::AsyncCopy;
  made.accessBytes = made.mode;
  made.execute = beginCopy;
}

} // namespace

void decodeCp(Decoding &decoding) {
  if (!decoding.take("async") || decoding.take("bulk"))
    decoding.fail("the emulator takes cp.async only, without .bulk");
  Instruction &made = decoding.instruction;
  if (decoding.take("commit_group")) {
    decoding.expectOperands(0);
    made.execute = commitGroup;
  } else if (decoding.take("wait_group")) {
    decoding.expectOperands(1);
    made.mode = decoding.number(0);
    made.execute = waitGroup;
  } else if (decoding.take("wait_all")) {
    decoding.expectOperands(0);
    made.execute = waitAll;
  } else
    decodeCopy(decoding);
}

} // namespace halftone::emulator
