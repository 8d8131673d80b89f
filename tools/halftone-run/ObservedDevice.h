// A device that runs everything on another one and shows every launch: its operands before, its results after.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include "runtime/plan/Executable.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halftone::tools {

/// One launch that has run. Bytes as the plan's slots hold them.
struct ObservedLaunch {
  size_t index = 0; // among the plan's launches
  const LaunchStep *step = nullptr;
  std::vector<std::string> operands, results;
};

/// Launches whose condition does not hold, and those that refresh shadows, are not shown. For one player of
/// `executable` at a time, over host memory; the inner device's queue must have run a launch when launch() returns, as
/// the CPU's has.
class ObservedDevice final : public DeviceRuntime {
public:
  using Observer = std::function<void(const ObservedLaunch &launch)>;
  ObservedDevice(std::shared_ptr<DeviceRuntime> inner, std::shared_ptr<const Executable> executable, Observer observer);
  std::string name() const override { return inner_->name(); }
  StatusOr<DeviceMemory> allocate(int64_t bytes) override { return inner_->allocate(bytes); }
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;

private:
  class Queue;
  std::shared_ptr<DeviceRuntime> inner_;
  std::shared_ptr<const Executable> executable_;
  struct PlannedLaunch {
    size_t index;
    const LaunchStep *step;
  };
  std::map<const std::string *, PlannedLaunch> launches_; // by the address of the step's kernel key, as in Launch
  Observer observer_;
};

} // namespace halftone::tools
