// The order of the threads of a block: barriers of the block and of warps, and races of accesses not ordered by them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/ThreadOrder.h"
#include "tests/emulator/Fault.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

// A user is nobody (0), a thread (from 1), a group of lanes of one warp, or several warps. A warp has 31 aligned groups of 2 to 32 lanes,
// numbered as the nodes of a heap: the whole warp is 1, and the groups of 2 lanes are 16 to 31.
constexpr uint32_t maxThreads = 1024, firstGroup = maxThreads + 1, groupsOfWarp = 31;
constexpr uint32_t severalWarps = (1 << 11) - 1;
static_assert(firstGroup + maxThreads / warpSize * groupsOfWarp <= severalWarps);

/// A group of lanes of one warp, decoded from a user number.
struct Lanes {
  uint32_t warp, first, count;

  explicit Lanes(uint32_t user) {
    if (user < firstGroup) {
      warp = (user - 1) / warpSize, first = (user - 1) % warpSize, count = 1;
      return;
    }
    uint32_t node = (user - firstGroup) % groupsOfWarp + 1;
    warp = (user - firstGroup) / groupsOfWarp;
    count = warpSize / std::bit_floor(node);
    first = (node - std::bit_floor(node)) * count;
  }
};

/// The reader of a byte that `reader` has read and that `thread` reads too.
uint32_t joined(uint32_t reader, uint32_t thread) {
  if (!reader || reader == thread + 1 || reader == severalWarps)
    return reader ? reader : thread + 1;
  Lanes lanes(reader);
  uint32_t lane = thread % warpSize;
  if (lanes.warp != thread / warpSize)
    return severalWarps;
  while (lane / lanes.count != lanes.first / lanes.count) {
    lanes.count *= 2;
    lanes.first = lanes.first / lanes.count * lanes.count;
  }
  return firstGroup + lanes.warp * groupsOfWarp + warpSize / lanes.count + lanes.first / lanes.count - 1;
}

bool isBefore(uint32_t earlier, uint8_t moment, const MemoryUser &user) {
  if (!earlier || earlier == user.thread + 1)
    return true;
  if (earlier == severalWarps)
    return false;
  const Lanes lanes(earlier);
  if (lanes.warp != user.thread / warpSize)
    return false;
  const uint32_t self = user.thread % warpSize;
  for (uint32_t lane = lanes.first; lane < lanes.first + lanes.count; ++lane)
    if (lane != self && !user.order.isBefore(self, lane, moment))
      return false;
  return true;
}

std::string nameOf(uint32_t user) {
  if (user == severalWarps)
    return "several warps";
  const Lanes lanes(user);
  if (lanes.count == 1)
    return fmt::format("thread {}", user - 1);
  return fmt::format("several of the lanes {} to {} of warp {}", lanes.first, lanes.first + lanes.count - 1,
                     lanes.warp);
}

[[noreturn]] void failRace(uint64_t address, const MemoryUser &user, const char *memory, const char *verb,
                           uint32_t other, const char *otherVerb) {
  throw Fault(FaultKind::LaunchFailed,
              fmt::format("thread {} {} the byte of {} at {:#x}, which {} {}; expected a barrier between the two",
                          user.thread, verb, memory, address, nameOf(other), otherVerb));
}

} // namespace

void WarpOrder::join(LaneMask lanes) {
  ++now_;
  if (lanes == allLanes) {
    for (auto &row : heard_)
      row.fill(now_);
    return;
  }
  std::array<uint8_t, warpSize> latest;
  for (int other = 0; other < warpSize; ++other) {
    uint8_t age = UINT8_MAX;
    for (LaneMask rest = lanes; rest; rest &= rest - 1)
      age = std::min<uint8_t>(age, now_ - heard_[std::countr_zero(rest)][other]);
    latest[other] = lanes >> other & 1 ? now_ : now_ - age;
  }
  for (LaneMask rest = lanes; rest; rest &= rest - 1)
    heard_[std::countr_zero(rest)] = latest;
}

uint64_t ThreadRecord::afterReadBeside(const MemoryUser &user, uint64_t address, const char *memory) const {
  const uint32_t writer = packed_ >> writerShift & userMask;
  if (!isBefore(writer, packed_ >> writerMomentShift & momentMask, user))
    failRace(address, user, memory, "reads", writer, "has written");
  const uint64_t reader = joined(packed_ >> readerShift & userMask, user.thread);
  return (packed_ & ~readerBits) | reader << readerShift | uint64_t(user.order.now()) << readerMomentShift;
}

void ThreadRecord::checkWrite(const MemoryUser &user, uint64_t address, const char *memory) const {
  const uint32_t writer = packed_ >> writerShift & userMask, reader = packed_ >> readerShift & userMask;
  if (!isBefore(writer, packed_ >> writerMomentShift & momentMask, user))
    failRace(address, user, memory, "writes", writer, "has written");
  if (!isBefore(reader, packed_ >> readerMomentShift & momentMask, user))
    failRace(address, user, memory, "writes", reader, "has read");
}

} // namespace halftone::emulator
