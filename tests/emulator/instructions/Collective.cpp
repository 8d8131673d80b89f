// Instructions that several lanes or threads execute together: barriers, shuffles, votes and warp reductions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

/// The lane that `lane` reads, and whether it is inside the segment of `lane`. `control` has the clamp in bits 0-4 and
/// the segment mask in bits 8-12.
std::pair<uint32_t, bool> sourceLane(Shuffle kind, uint32_t lane, uint32_t by, uint32_t control) {
  uint32_t clamp = control & 31, segment = control >> 8 & 31;
  by &= 31;
  int32_t highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
  switch (kind) {
  case Shuffle::Up: {
    int32_t source = int32_t(lane) - int32_t(by);
    return {source, source >= highest};
  }
  case Shuffle::Down:
    return {lane + by, int32_t(lane + by) <= highest};
  case Shuffle::Butterfly:
    return {lane ^ by, int32_t(lane ^ by) <= highest};
  default: {
    uint32_t source = lowest | (by & ~segment);
    return {source, int32_t(source) <= highest};
  }
  }
}

/// operands: result, predicate of the result, value, distance, control.
template <Shuffle kind> void shuffle(Warp &warp, const Instruction &instruction, LaneMask active) {
  std::array<uint32_t, warpSize> values;
  std::copy_n(warp.lanes<uint32_t>(instruction.operands[2]), warpSize, values.begin());
  const uint32_t *by = warp.lanes<uint32_t>(instruction.operands[3]),
                 *control = warp.lanes<uint32_t>(instruction.operands[4]);
  std::array<uint32_t, warpSize> results{};
  LaneMask inside = 0;
  eachLane(active, [&](int lane) {
    auto [source, isInside] = sourceLane(kind, lane, by[lane], control[lane]);
    source = isInside ? source : lane;
    warp.atLane(lane);
    if (!(active >> source & 1))
      warp.fail(fmt::format("a shuffle reads lane {}, which does not take part; expected one of the lanes {:#x}",
                            source, active));
    results[lane] = values[source];
    inside |= LaneMask(isInside) << lane;
  });
  uint32_t *result = warp.lanes<uint32_t>(instruction.operands[0]);
  eachLane(active, [&](int lane) { result[lane] = results[lane]; });
  if (instruction.operands[1] != noOperand) {
    LaneMask &predicate = warp.predicate(instruction.operands[1]);
    predicate = (predicate & ~active) | inside;
  }
}

enum class Vote : uint8_t { Ballot, Any, All, Uniform };
constexpr uint64_t votesNegated = 1;

template <Vote kind> void vote(Warp &warp, const Instruction &instruction, LaneMask active) {
  LaneMask votes = warp.predicate(instruction.operands[1]);
  votes = (instruction.mode & votesNegated ? ~votes : votes) & active;
  if (kind == Vote::Ballot) {
    uint32_t *result = warp.lanes<uint32_t>(instruction.operands[0]);
    eachLane(active, [&](int lane) { result[lane] = votes; });
    return;
  }
  bool holds = kind == Vote::Any ? votes != 0 : votes == active || (kind == Vote::Uniform && votes == 0);
  LaneMask &result = warp.predicate(instruction.operands[0]);
  result = (result & ~active) | (holds ? active : 0);
}

template <typename T, typename Combine> void reduce(Warp &warp, const Instruction &instruction, LaneMask active) {
  const T *source = warp.lanes<T>(instruction.operands[1]);
  T total = source[std::countr_zero(active)];
  for (LaneMask rest = active & (active - 1); rest; rest &= rest - 1)
    total = Combine()(total, source[std::countr_zero(rest)]);
  T *result = warp.lanes<T>(instruction.operands[0]);
  eachLane(active, [&](int lane) { result[lane] = total; });
}

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct Least {
  template <typename T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct Most {
  template <typename T> T operator()(T a, T b) const { return std::max(a, b); }
};
struct BitAnd {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct BitOr {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct BitXor {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};

void activeLanes(Warp &warp, const Instruction &instruction, LaneMask active) {
  uint32_t *result = warp.lanes<uint32_t>(instruction.operands[0]);
  eachLane(active, [&](int lane) { result[lane] = active; });
}

void trap(Warp &warp, const Instruction &, LaneMask) { warp.fail("the kernel stops itself by a trap"); }

/// Lanes that have exited, or that the block never had, count as joined, so races with their accesses are no longer
/// detected.
void warpBarrier(Warp &warp, const Instruction &, LaneMask active) { warp.order().join(active | ~warp.live()); }

void decodeWarpBarrier(Decoding &decoding) {
  decoding.take("sync");
  decoding.expectOperands(1);
  decoding.instruction.flow = Flow::Together;
  decoding.instruction.members = decoding.read(0, 32);
  decoding.instruction.execute = warpBarrier;
}

} // namespace

void decodeBar(Decoding &decoding) {
  if (decoding.take("warp"))
    return decodeWarpBarrier(decoding);
  decoding.take("cta");
  decoding.take("aligned");
  if (!decoding.take("sync"))
    decoding.fail("expected .sync");
  if (decoding.operandCount() != 1)
    decoding.fail("the emulator takes barriers of all threads of a block only; expected one operand");
  decoding.instruction.flow = Flow::BlockBarrier;
  decoding.instruction.operands[0] = decoding.read(0, 32);
}

void decodeShfl(Decoding &decoding) {
  decoding.take("sync");
  int kind = decoding.takeOneOf({"up", "down", "bfly", "idx"});
  if (decoding.takeType() != Type{Type::Kind::Bits, 32})
    decoding.fail("expected .b32");
  decoding.expectOperands(5);
  constexpr Execute table[] = {shuffle<Shuffle::Up>, shuffle<Shuffle::Down>, shuffle<Shuffle::Butterfly>,
                               shuffle<Shuffle::Index>};
  Instruction &made = decoding.instruction;
  const OperandText &result = decoding.operand(0);
  bool isPair = result.kind == OperandText::Kind::Pair;
  made.execute = table[kind];
  made.flow = Flow::Together;
  made.operands = {decoding.write(isPair ? result.parts[0] : result, 32),
                   isPair ? decoding.write(result.parts[1], 1) : noOperand, decoding.read(1, 32), decoding.read(2, 32),
                   decoding.read(3, 32)};
  made.members = decoding.read(4, 32);
}

void decodeVote(Decoding &decoding) {
  decoding.take("sync");
  int kind = decoding.takeOneOf({"ballot", "any", "all", "uni"});
  Type type = decoding.takeType();
  decoding.expectOperands(3);
  if (type != (kind == 0 ? Type{Type::Kind::Bits, 32} : Type{Type::Kind::Predicate, 1}))
    decoding.fail("expected .b32 for a ballot and .pred for the others");
  constexpr Execute table[] = {vote<Vote::Ballot>, vote<Vote::Any>, vote<Vote::All>, vote<Vote::Uniform>};
  Instruction &made = decoding.instruction;
  bool negated = false;
  made.execute = table[kind];
  made.flow = Flow::Together;
  made.operands = {decoding.write(0, type.bits), decoding.readPredicate(1, negated)};
  made.mode = negated ? votesNegated : 0;
  made.members = decoding.read(2, 32);
}

void decodeRedux(Decoding &decoding) {
  decoding.take("sync");
  int op = decoding.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = decoding.takeType();
  decoding.expectOperands(3);
  if (!type.isInteger() || type.bits != 32)
    decoding.fail("expected an integer type of 32 bits");
  constexpr Execute unsignedTable[] = {reduce<uint32_t, Sum>,    reduce<uint32_t, Least>, reduce<uint32_t, Most>,
                                       reduce<uint32_t, BitAnd>, reduce<uint32_t, BitOr>, reduce<uint32_t, BitXor>};
  Instruction &made = decoding.instruction;
  made.execute = unsignedTable[op];
  if (type.isSigned() && (op == 1 || op == 2))
    made.execute = op == 1 ? reduce<int32_t, Least> : reduce<int32_t, Most>;
  made.flow = Flow::Together;
  made.operands = {decoding.write(0, 32), decoding.read(1, 32)};
  made.members = decoding.read(2, 32);
}

void decodeActivemask(Decoding &decoding) {
  decoding.takeType();
  decoding.expectOperands(1);
  decoding.instruction.execute = activeLanes;
  decoding.instruction.operands = {decoding.write(0, 32)};
}

void decodeTrap(Decoding &decoding) {
  decoding.expectOperands(0);
  decoding.instruction.execute = trap;
}

} // namespace halftone::emulator
