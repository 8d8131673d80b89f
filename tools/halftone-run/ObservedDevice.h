// A device that passes all work to another device and shows every launch: its operands before, its results after.
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

/// One launch that has run. The bytes are those of the plan's slots.
struct ObservedLaunch {
  size_t index = 0; // among the launches of the plan
  const LaunchStep *step = nullptr;
  std::vector<std::string> operands, results;
};

/// Does not show launches whose condition does not hold, nor launches that refresh shadows. For one player of
/// `executable` at a time. It plays lists of operations one by one, and downloads the bytes that it shows.
class ObservedDevice final : public DeviceRuntime {
public:
  using Observer = std::function<void(const ObservedLaunch &launch)>;
  ObservedDevice(std::shared_ptr<DeviceRuntime> inner, std::shared_ptr<const Executable> executable, Observer observer);
  std::string name() const override { return inner_->name(); }
  std::string description() const override { return inner_->description(); }
  bool isHost() const override { return inner_->isHost(); }
  std::string target() const override { return inner_->target(); }
  StatusOr<DeviceMemory> allocate(int64_t bytes) override { return inner_->allocate(bytes); }
  StatusOr<DeviceMemory> allocateUndefined(int64_t bytes) override { return inner_->allocateUndefined(bytes); }
  Status upload(std::byte *to, std::span<const std::byte> from) override { return inner_->upload(to, from); }
  Status download(std::span<std::byte> to, const std::byte *from) override { return inner_->download(to, from); }
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override {
    return inner_->load(kernels);
  }
  DeviceCounters counters() const override { return inner_->counters(); }
  uint64_t submission() const override { return inner_->submission(); }
  bool hasFinished(uint64_t submission) const override { return inner_->hasFinished(submission); }
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
