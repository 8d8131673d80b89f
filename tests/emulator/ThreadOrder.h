// The order between the threads of a block: barriers of the block, barriers of a warp, and the races of accesses without either.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"

namespace halftone::emulator {

/// The barriers that the lanes of one warp have passed together. An access has the moment of the last one before it; a lane knows of the
/// accesses of another lane up to the last barrier that joined the two, directly or through further lanes.
class WarpOrder {
public:
  /// `lanes` pass a bar.warp.sync together.
  void join(LaneMask lanes);
  /// The number of barriers so far. It wraps: 128 barriers of one warp without one of the block may hide a race, but make none.
  uint8_t now() const { return now_; }
  /// Whether the accesses of `other` at the moment `then` come before what `lane` does from now on.
  bool isBefore(int lane, int other, uint8_t then) const { return int8_t(heard_[lane][other] - then) > 0; }

private:
  uint8_t now_ = 0;
  std::array<std::array<uint8_t, warpSize>, warpSize>
      heard_{}; ///< by the lane that knows, then by the lane that it knows of
};

/// A thread of a block that uses memory.
struct MemoryUser {
  uint32_t block = 0;  ///< its index in the launch
  uint32_t thread = 0; ///< in the block
  uint32_t interval =
      0; ///< between two barriers of the block; no two blocks of a device's launches have one with the same number
  const WarpOrder &order;
};

/// The uses of one byte by the threads of a block since its last barrier, packed. Two uses by different threads, one of them a write, are
/// a race unless a barrier of their warp joined the two between them. Several readers are remembered as the smallest aligned group of
/// lanes that holds them, which all must have passed that barrier.
class ThreadRecord {
public:
  /// The two lowest bits are the memory's own; the record keeps them.
  static constexpr uint64_t ownBits = 3;
  /// How many intervals have numbers of their own.
  static constexpr uint32_t intervals = 1 << 24;

  explicit ThreadRecord(uint64_t packed) : packed_(packed) {}

  /// The record after a use. Throws Fault for a race; `memory` says of what ("shared memory").
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
  /// The record after a read of a byte that a thread has used in the same interval.
  uint64_t afterReadBeside(const MemoryUser &user, uint64_t address, const char *memory) const;
  void checkWrite(const MemoryUser &user, uint64_t address, const char *memory) const;

  uint64_t packed_;
};

} // namespace halftone::emulator
