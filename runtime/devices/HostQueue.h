// Base class of queues over host memory: operations run synchronously in the calling thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <algorithm>
#include <cstring>

namespace halftone {

class HostQueue : public DeviceQueue {
public:
  void begin() override {}
  void launch(std::span<const Launch> parts) override {
    if (holds(parts.front().condition) && std::ranges::any_of(parts, [](const Launch &part) { return part.grid > 0; }))
      run(parts);
  }
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    if (holds(condition) && bytes > 0)
      std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override {
    if (holds(condition) && bytes > 0)
      std::memset(to, 0, static_cast<size_t>(bytes));
  }
  bool holds(Condition condition) final {
    return !condition.byte || (*condition.byte != std::byte{0}) != condition.negated;
  }

protected:
  /// Called only if the condition holds and at least one part has blocks.
  virtual void run(std::span<const Launch> parts) = 0;
};

} // namespace halftone
