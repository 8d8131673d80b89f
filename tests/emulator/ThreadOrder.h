// The order of the threads of a block: barriers of the block and of warps, and races of accesses not ordered by them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"

namespace halftone::emulator {

/// The barriers that the lanes of one warp have passed together. The moment of an access is that of the last barrier
/// before it. A lane knows the accesses of another lane up to the last barrier that joined the two, directly or through
/// other lanes.
class WarpOrder {
public:
  /// `lanes` pass a bar.warp.sync together.
  void join(LaneMask lanes);
  /// The number of barriers so far. It wraps: 128 barriers of one warp without a block barrier may hide a race, but
  /// never report a false one.
  uint8_t now() const { return now_; }
  /// Returns true if the accesses of `other` at the moment `then` happen before the subsequent accesses of `lane`.
  bool isBefore(int lane, int other, uint8_t then) const { return int8_t(heard_[lane][other] - then) > 0; }

private:
  uint8_t now_ = 0;
  std::array<std::array<uint8_t, warpSize>, warpSize>
      heard_{}; ///< by the lane that knows, then by the lane that it knows about
};

/// A thread of a block that accesses memory.
struct MemoryUser {
  uint32_t block = 0;    ///< its index in the launch
  uint32_t thread = 0;   ///< in the block
  uint32_t interval = 0; ///< between two barriers of the block; unique among all blocks of all launches of a device
  const WarpOrder &order;
};

/// The packed uses of one byte by the threads of a block since its last barrier. Two uses by different threads, at
/// least one of which is a write, are a race unless a barrier of their warp joined the two in between. Several readers
/// are recorded as the smallest aligned group of lanes that contains them; all of these must have passed the barrier.
class ThreadRecord {
public:
  /// The two lowest bits belong to the memory; the record preserves them.
  static constexpr uint64_t ownBits = 3;
  /// The number of intervals with distinct numbers.
  static constexpr uint32_t intervals = 1 << 24;

  explicit ThreadRecord(uint64_t packed) : packed_(packed) {}

  /// The record after a use. Throws Fault for a race; `memory` names the memory ("shared memory").
  uint64_t afterRead(const MemoryUser &user, uint64_t address, const char *memory) const {
    const uint64_t self = user.thread + 1, writer = packed_ >> writerShift & userMask;
    const uint64_t readOnly = intervalOf(user) | self << readerShift | uint64_t(user.order.now()) << readerMomentShift;
    if ((packed_ & intervalBits) != intervalOf(user))
      return readOnly | (packed_ & ownBits);
    if ((packed_ & (intervalBits | readerBits)) == readOnly && (!writer || writer == self))
      return packed_;
    return afterReadBeside(user, address, memory);
  }
  uint64_t afterWrite(const MemoryUser &user, uint64_t address, const char *memory) const {
    if ((packed_ & intervalBits) == intervalOf(user))
      checkWrite(user, address, memory);
    return intervalOf(user) | uint64_t(user.thread + 1) << writerShift |
           uint64_t(user.order.now()) << writerMomentShift | (packed_ & ownBits);
  }

private:
  // 2 bits of the memory, 24 of the interval, then 11 of the user and 8 of the moment for the writer, and the same for the readers.
  static constexpr int intervalShift = 2, writerShift = 26, writerMomentShift = 37, readerShift = 45,
                       readerMomentShift = 56;
  static constexpr uint64_t intervalBits = uint64_t(intervals - 1) << intervalShift, userMask = (1 << 11) - 1,
                            momentMask = (1 << 8) - 1, readerBits = ~uint64_t(0) << readerShift;

  static uint64_t intervalOf(const MemoryUser &user) { return uint64_t(user.interval) << intervalShift & intervalBits; }
  /// The record after a read of a byte that some thread has used in the same interval.
  uint64_t afterReadBeside(const MemoryUser &user, uint64_t address, const char *memory) const;
  void checkWrite(const MemoryUser &user, uint64_t address, const char *memory) const;

  uint64_t packed_;
};

} // namespace halftone::emulator
