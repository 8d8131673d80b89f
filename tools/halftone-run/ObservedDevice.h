// A device that forwards all work to another one and reports every launch: its operands before, its results after.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/ForwardingDevice.h"
#include "runtime/plan/Executable.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halftone::tools {

/// A completed launch. The bytes are those of the plan's slots.
struct ObservedLaunch {
  size_t index = 0; // index among the launches of the plan
  const LaunchStep *step = nullptr;
  std::vector<std::string> operands, results;
};

/// Omits launches whose condition does not hold, and launches that recompute shadows. Supports one player of
/// `executable` at a time. It plays lists of operations one by one and downloads the bytes that it reports.
class ObservedDevice final : public ForwardingDevice {
public:
  using Observer = std::function<void(const ObservedLaunch &launch)>;
  ObservedDevice(std::shared_ptr<DeviceRuntime> inner, std::shared_ptr<const Executable> executable, Observer observer);
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;

private:
  class Queue;
  std::shared_ptr<const Executable> executable_;
  struct PlannedLaunch {
    size_t index;
    const LaunchStep *step;
  };
  std::map<const std::string *, PlannedLaunch> launches_; // keyed by the address of the step's kernel key, as in Launch
  Observer observer_;
};

} // namespace halftone::tools
