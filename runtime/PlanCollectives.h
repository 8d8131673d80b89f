// The collectives of a plan while it is played: begun and awaited in the plan's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include "runtime/communication/ProcessGroup.h"
#include <deque>
#include <memory>
#include <vector>

namespace halftone {

class PlanCollectives {
public:
  /// Without a group the process is alone: each value is copied. The plan must outlive the object.
  PlanCollectives(const Plan &plan, std::shared_ptr<ProcessGroup> group);
  /// Begins the next collective; `addresses` are by slot.
  void start(const std::vector<std::byte *> &addresses, DeviceQueue &queue);
  /// Waits for the oldest collective that travels. A failure is that of Communicator::exchange().
  Status wait();
  /// Waits for all that travel, since their memory is about to change, and begins anew at the plan's first collective.
  void settle();

private:
  struct Bound {
    const CollectiveStep *step;
    std::vector<SharedArray> arrays; // with the addresses of the present play
  };
  std::vector<Bound> bound_;
  std::shared_ptr<ProcessGroup> group_;
  size_t next_ = 0;
  std::deque<uint64_t> travelling_; // numbers of the group's work
};

} // namespace halftone
