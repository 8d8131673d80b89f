// The collectives of a plan while it is played: begun and awaited in the plan's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include "runtime/communication/DeviceCollectives.h"
#include "runtime/communication/ProcessGroup.h"
#include "runtime/plan/Executable.h"
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace halftone {

/// When a collective of a play began and ended. On a device only the times of the host's own calls are known.
struct CollectiveTimes {
  using Time = std::chrono::steady_clock::time_point;
  Time started;          // the play began it
  Time began, ended;     // it was exchanged with the other processes
  Time awaited, arrived; // the play waited for it
};

class PlanCollectives {
public:
  /// Without a group the process is alone: each value is copied. With one, a device that is no host joins it; errors are
  /// those of DeviceRuntime::join(). value_error if the plan divides values among other processes than the group's. The
  /// executable must outlive the object.
  static StatusOr<std::unique_ptr<PlanCollectives>> make(const Executable &executable, DeviceRuntime &device,
                                                         std::shared_ptr<ProcessGroup> group);
  /// Begins the next collective; `addresses` are by slot.
  Status start(const std::vector<std::byte *> &addresses, DeviceQueue &queue);
  /// Waits for the oldest collective that travels; on a device its queue waits, and not the host. A failure is that of
  /// Communicator::exchange() or of the device.
  Status wait();
  /// Waits for all that travel, since their memory is about to change, and begins anew at the plan's first collective.
  void settle();
  /// The labels of a plan's collectives, in their order: kinds, bytes, and a digest of the arrays. They are the same in all
  /// processes that play the plan together.
  static std::vector<std::string> names(const Plan &plan);
  /// Of the last play, by the order of collectives. No play may run: Player::collectiveTimes() sees to it.
  std::vector<CollectiveTimes> times() const;
  const std::shared_ptr<ProcessGroup> &group() const { return group_; }

private:
  /// For a process alone: copies its own elements, and writes 0 for the elements of other processes.
  static void copy(const CollectiveStep &step, std::span<const SharedArray> arrays, DeviceQueue &queue);
  PlanCollectives(const Plan &plan, std::shared_ptr<ProcessGroup> group, std::shared_ptr<DeviceCollectives> onDevice);
  struct Bound {
    const CollectiveStep *step;
    std::string name;                // "1 of 3: all_reduce sum of 96 bytes, 5f2c11aa": the digest is of its arrays
    std::vector<SharedArray> arrays; // with the addresses of the present play
    CollectiveTimes times;
  };
  static std::vector<Bound> boundOf(const Plan &plan);
  std::vector<Bound> bound_;
  std::shared_ptr<ProcessGroup> group_;
  std::shared_ptr<DeviceCollectives> onDevice_;
  size_t next_ = 0, awaited_ = 0;   // how many have begun, and have been awaited, in this play
  std::deque<uint64_t> travelling_; // numbers of the group's work; on a device, one entry for each collective
};

} // namespace halftone
