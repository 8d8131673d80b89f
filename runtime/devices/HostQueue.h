// What all queues over host memory share: operations run at once, in the calling thread's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <cstring>

namespace halftone {

class HostQueue : public DeviceQueue {
public:
  void begin() override {}
  void launch(const Launch &launch) override {
    if (holds(launch.condition) && launch.grid > 0)
      run(launch);
  }
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    if (holds(condition) && bytes > 0)
      std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override {
    if (holds(condition) && bytes > 0)
      std::memset(to, 0, static_cast<size_t>(bytes));
  }

protected:
  /// The condition holds and there is at least one block.
  virtual void run(const Launch &launch) = 0;

private:
  static bool holds(Condition condition) {
    return !condition.byte || (*condition.byte != std::byte{0}) != condition.negated;
  }
};

} // namespace halftone
