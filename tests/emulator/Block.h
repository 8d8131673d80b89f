// A block of threads, and a launch of many blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/AccessCounts.h"
#include "tests/emulator/Memory.h"
#include "tests/emulator/Ptx.h"
#include "tests/emulator/Random.h"
#include "tests/emulator/Warp.h"
#include <array>
#include <deque>
#include <optional>
#include <string>

namespace halftone::emulator {

struct Launch {
  const Kernel *kernel = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> threads{1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  std::vector<std::byte> parameters; ///< in the layout of the kernel
};

struct LaunchCounts {
  uint64_t launches = 0;
  uint64_t threadInstructions = 0;
  std::optional<AccessCounts> accesses = {}; ///< none: accesses are not counted, since counting takes time
};

class Block {
public:
  /// `accesses`, if not null, has an entry for each instruction of the kernel.
  Block(const Launch &launch, uint32_t index, DeviceMemory &global, Random &random, InstructionAccesses *accesses);

  /// Runs all warps to their end. Throws Fault, whose text lacks the position.
  void run();
  /// The current position: kernel, line, block and thread.
  std::string place() const;
  uint64_t threadInstructions() const;

  const Launch &launch() const { return launch_; }
  const Kernel &kernel() const { return *launch_.kernel; }
  uint32_t index() const { return index_; }
  uint32_t coordinate(int dim) const;
  uint32_t interval() const { return interval_; }
  DeviceMemory &global() { return global_; }
  SharedMemory &shared() { return shared_; }
  Random &random() { return random_; }
  InstructionAccesses *accesses() { return accesses_; }
  void loadParameter(const Access &access, void *to) const;

private:
  Warp *chooseWarp();
  void passBarrier();
  [[noreturn]] void failBarrier(const Warp &waiting, const Warp &other) const;

  const Launch &launch_;
  uint32_t index_;
  DeviceMemory &global_;
  Random &random_;
  SharedMemory shared_;
  InstructionAccesses *accesses_;
  uint32_t interval_;
  std::deque<Warp> warps_;
  const Warp *running_ = nullptr;
};

/// Runs all blocks of a launch one after the other, in order or in the order that `random` draws. Throws Fault with the
/// complete text: kernel, line, block, thread, address, the expectation and the seed.
void runLaunch(const Launch &launch, DeviceMemory &global, Random &random, LaunchCounts &counts);

} // namespace halftone::emulator
