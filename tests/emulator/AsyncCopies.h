// The copies from global to shared memory that the threads of a warp have started and not waited for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Memory.h"
#include <array>
#include <deque>
#include <vector>

namespace halftone::emulator {

class Warp;

/// One cp.async of a lane. The seed decides whether its source is read when it is issued or when its thread waits for
/// it. Its target is written at that wait; until then every use of the target is a fault.
struct AsyncCopy {
  Access target;
  Access source; ///< may have fewer bytes than the target: the rest is 0
  bool isRead = false;
  std::array<std::byte, 16> bytes{};
};

class AsyncCopies {
public:
  void begin(Warp &warp, int lane, const AsyncCopy &copy);
  void commit(int lane);
  /// Finishes the oldest groups of the lane until at most `left` are in flight.
  void wait(Warp &warp, int lane, size_t left);
  /// Finishes all copies of the lane, committed to groups or not.
  void waitAll(Warp &warp, int lane);

private:
  using Group = std::vector<AsyncCopy>;
  struct Lane {
    Group open;
    std::deque<Group> groups;
  };

  Lane &at(int lane);
  static void finish(Warp &warp, int lane, Group &group);

  std::vector<Lane> lanes_;
};

} // namespace halftone::emulator
