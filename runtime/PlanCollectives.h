// The collectives of a playing plan, started and awaited in the plan's order.
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

/// Times of one collective in a play. On a device only the times of the host's own calls are known.
struct CollectiveTimes {
  using Time = std::chrono::steady_clock::time_point;
  Time started;          // the play started it
  Time began, ended;     // the exchange with the other processes
  Time awaited, arrived; // the play waited for it
};

class PlanCollectives {
public:
  /// Without a group the process runs alone and each value is copied. With a group, a non-host device joins it; errors
  /// are those of DeviceRuntime::join(). value_error if the plan divides values for a rank or a number of processes
  /// other than the group's. The executable must outlive the object.
  static StatusOr<std::unique_ptr<PlanCollectives>> make(const Executable &executable, DeviceRuntime &device,
                                                         std::shared_ptr<ProcessGroup> group);
  /// Starts the next collective; `addresses` is indexed by slot.
  Status start(const std::vector<std::byte *> &addresses, DeviceQueue &queue);
  /// Waits for the oldest collective in flight; on a device the queue waits instead of the host. Errors are those of
  /// Communicator::exchange() or of the device.
  Status wait();
  /// Waits for all collectives in flight, since their memory is about to change, and resets the position to the plan's
  /// first collective.
  void finish();
  /// The labels of a plan's collectives, in order: kind, bytes, and a digest of the arrays. They are identical in all
  /// processes that play the plan together.
  static std::vector<std::string> names(const Plan &plan);
  /// Times of the last play, in the order of the collectives. No play may be running; Player::collectiveTimes() ensures
  /// this.
  std::vector<CollectiveTimes> times() const;
  const std::shared_ptr<ProcessGroup> &group() const { return group_; }

private:
  /// For a process that runs alone: copies its own elements and writes 0 for the elements of other processes.
  static void copy(const CollectiveStep &step, std::span<const SharedArray> arrays, DeviceQueue &queue);
  PlanCollectives(const Plan &plan, std::shared_ptr<ProcessGroup> group, std::shared_ptr<DeviceCollectives> onDevice);
  struct Bound {
    const CollectiveStep *step;
    std::string name;                // "1 of 3: all_reduce sum of 96 bytes, 5f2c11aa": the digest is of its arrays
    std::vector<SharedArray> arrays; // with the addresses of the current play
    CollectiveTimes times;
  };
  static std::vector<Bound> boundOf(const Plan &plan);
  std::vector<Bound> bound_;
  std::shared_ptr<ProcessGroup> group_;
  std::shared_ptr<DeviceCollectives> onDevice_;
  size_t next_ = 0, awaited_ = 0; // how many have been started and awaited in this play
  std::deque<uint64_t> inFlight_; // work numbers of the group; on a device, one entry per collective
};

} // namespace halftone
