// A warp: its registers, the groups of lanes at the same position of the program, and its copies in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/AsyncCopies.h"
#include "tests/emulator/Memory.h"
#include "tests/emulator/Ptx.h"
#include <bit>
#include <cstring>
#include <vector>

namespace halftone::emulator {

class Block;

/// Calls f(lane) for each active lane. With all lanes active it is a plain loop, which the compiler vectorises.
template <typename F> inline void eachLane(LaneMask active, F f) {
  if (active == allLanes) {
    for (int lane = 0; lane < warpSize; ++lane)
      f(lane);
    return;
  }
  for (; active; active &= active - 1)
    f(std::countr_zero(active));
}

class Warp {
public:
  enum class State : uint8_t { Running, AtBarrier, Done };

  Warp(Block &block, uint32_t index, LaneMask lanes);

  /// Runs at most `steps` instructions; fewer if the warp reaches a barrier of the block or its end.
  void run(uint32_t steps);
  State state() const { return state_; }
  uint32_t index() const { return index_; }
  /// AtBarrier: the number of the barrier.
  uint32_t barrier() const { return barrier_; }
  void passBarrier();
  /// Returns true if all lanes that the block gave the warp are still live.
  bool isWhole() const { return live_ == lanes_; }
  LaneMask ended() const { return lanes_ & ~live_; }
  uint32_t endLine() const { return endLine_; }
  uint64_t threadInstructions() const { return threadInstructions_; }

  // Registers, for instructions.
  template <typename T> T *lanes(uint32_t offset) { return reinterpret_cast<T *>(registers_.data() + offset); }
  LaneMask &predicate(uint32_t offset) { return *lanes<LaneMask>(offset); }
  LaneMask predicateOr(uint32_t offset, LaneMask otherwise) {
    return offset == noOperand ? otherwise : predicate(offset);
  }
  Block &block() { return block_; }
  LaneMask live() const { return live_; }
  AsyncCopies &copies() { return copies_; }
  WarpOrder &order() { return order_; }
  uint64_t addressOf(uint32_t operand, uint8_t bits, int64_t displacement, int lane);
  /// Checked accesses of one lane.
  void load(int lane, Space space, const Access &access, void *to);
  void store(int lane, Space space, const Access &access, const void *from);
  MemoryUser userAt(int lane) const;

  // The current instruction, for messages.
  const Instruction &current() const { return *current_; }
  int lane() const { return lane_; }
  void atLane(int lane) { lane_ = lane; }
  [[noreturn]] void fail(const std::string &text) const { throw Fault(FaultKind::LaunchFailed, text); }

private:
  struct Group {
    uint32_t place;
    LaneMask lanes;
    bool waits = false; ///< for lanes outside of the group
  };

  void step();
  void execute(const Instruction &instruction, LaneMask active);
  void branch(const Instruction &instruction, LaneMask active);
  void branchByIndex(const Instruction &instruction, LaneMask active);
  void leave(LaneMask active, uint32_t target);
  void exit(const Instruction &instruction, LaneMask active);
  void reachBarrier(const Instruction &instruction, LaneMask active);
  void runTogether(const Instruction &instruction, LaneMask active);
  void chooseGroup();
  void mergeGroups();
  [[noreturn]] void failMissingLanes() const;

  Block &block_;
  uint32_t index_;
  LaneMask lanes_;
  LaneMask live_;
  State state_ = State::Running;
  uint32_t barrier_ = 0;
  uint32_t endLine_ = 0;
  uint64_t threadInstructions_ = 0;
  std::vector<std::byte> registers_;
  std::vector<Group> groups_;
  size_t chosen_ = 0;
  const Instruction *current_ = nullptr;
  int lane_ = 0;
  AsyncCopies copies_;
  WarpOrder order_;
};

} // namespace halftone::emulator
