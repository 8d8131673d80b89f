// Wraps the queue of another device.
// SPDX-License-Identifier: Apache-2.0
#include "ObservedDevice.h"
#include <span>
#include <utility>

namespace halftone::tools {

class ObservedDevice::Queue final : public ForwardingQueue {
public:
  Queue(std::unique_ptr<DeviceQueue> inner, const ObservedDevice &device)
      : ForwardingQueue(std::move(inner)), device_(device) {}

  Status finish() override {
    const Status status = ForwardingQueue::finish();
    return seen_.isOk() ? status : std::exchange(seen_, {});
  }

  void launch(std::span<const Launch> parts) override {
    if (!device_.launches_.contains(parts.front().kernel)) // a launch that recomputes a shadow
      return ForwardingQueue::launch(parts);
    const Condition &condition = parts.front().condition;
    const bool runs = !condition.byte || (bytesAt(condition.byte, 1)[0] != 0) != condition.negated;
    std::vector<ObservedLaunch> seen(parts.size());
    for (size_t part = 0; part < parts.size(); ++part) {
      const PlannedLaunch &planned = device_.launches_.at(parts[part].kernel);
      seen[part].index = planned.index;
      seen[part].step = planned.step;
      for (int64_t i = 0; runs && i < seen[part].step->operandCount; ++i)
        seen[part].operands.push_back(bytesOf(parts[part], *seen[part].step, static_cast<size_t>(i)));
    }
    ForwardingQueue::launch(parts);
    for (size_t part = 0; runs && part < parts.size(); ++part) {
      const size_t operands = static_cast<size_t>(seen[part].step->operandCount);
      for (size_t i = operands; i < parts[part].buffers.size(); ++i)
        seen[part].results.push_back(bytesOf(parts[part], *seen[part].step, i));
      device_.observer_(seen[part]);
    }
  }

private:
  std::string bytesOf(const Launch &launch, const LaunchStep &step, size_t buffer) {
    return bytesAt(launch.buffers[buffer], device_.executable_->plan.slots[step.buffers[buffer]].type.bytes());
  }
  std::string bytesAt(const void *address, int64_t count) {
    std::string bytes(static_cast<size_t>(count), '\0');
    const Status status =
        device_.inner().download(std::as_writable_bytes(std::span(bytes)), static_cast<const std::byte *>(address));
    if (!status.isOk())
      seen_ = status;
    return bytes;
  }

  Status seen_; // an error if some bytes could not be read
  const ObservedDevice &device_;
};

ObservedDevice::ObservedDevice(std::shared_ptr<DeviceRuntime> inner, std::shared_ptr<const Executable> executable,
                               Observer observer)
    : ForwardingDevice(std::move(inner)), executable_(std::move(executable)), observer_(std::move(observer)) {
  for (const Step &step : executable_->plan.steps)
    if (auto *launch = std::get_if<LaunchStep>(&step))
      launches_.insert({&launch->kernel, {launches_.size(), launch}});
}

StatusOr<std::unique_ptr<DeviceQueue>> ObservedDevice::makeQueue(int64_t scratchBytes) {
  StatusOr<std::unique_ptr<DeviceQueue>> queue = inner().makeQueue(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(queue.status());
  return std::unique_ptr<DeviceQueue>(std::make_unique<Queue>(*std::move(queue), *this));
}

} // namespace halftone::tools
