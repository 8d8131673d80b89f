// Wraps a queue.
// SPDX-License-Identifier: Apache-2.0
#include "ObservedDevice.h"

namespace halftone::tools {

class ObservedDevice::Queue final : public DeviceQueue {
public:
  Queue(std::unique_ptr<DeviceQueue> inner, const ObservedDevice &device) : inner_(std::move(inner)), device_(device) {}

  void begin() override {
    next_ = 0;
    inner_->begin();
  }
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    inner_->copy(to, from, bytes, condition);
  }
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override { inner_->fillZero(to, bytes, condition); }
  Status finish() override { return inner_->finish(); }

  void launch(const Launch &launch) override {
    ObservedLaunch seen;
    seen.index = next_;
    seen.step = device_.launches_.at(next_++);
    const Condition &condition = launch.condition;
    const bool runs = !condition.byte || (*condition.byte != std::byte{0}) != condition.negated;
    const size_t operands = static_cast<size_t>(seen.step->operandCount);
    for (size_t i = 0; runs && i < operands; ++i)
      seen.operands.push_back(bytesOf(launch, *seen.step, i));
    inner_->launch(launch);
    for (size_t i = operands; runs && i < launch.buffers.size(); ++i)
      seen.results.push_back(bytesOf(launch, *seen.step, i));
    if (runs)
      device_.observer_(seen);
  }

private:
  std::string bytesOf(const Launch &launch, const LaunchStep &step, size_t buffer) const {
    const int64_t bytes = device_.executable_->plan.slots[step.buffers[buffer]].type.bytes();
    return {static_cast<const char *>(launch.buffers[buffer]), static_cast<size_t>(bytes)};
  }

  std::unique_ptr<DeviceQueue> inner_;
  const ObservedDevice &device_;
  size_t next_ = 0;
};

ObservedDevice::ObservedDevice(std::shared_ptr<DeviceRuntime> inner, std::shared_ptr<const Executable> executable,
                               Observer observer)
    : inner_(std::move(inner)), executable_(std::move(executable)), observer_(std::move(observer)) {
  for (const Step &step : executable_->plan.steps)
    if (auto *launch = std::get_if<LaunchStep>(&step))
      launches_.push_back(launch);
}

StatusOr<std::unique_ptr<DeviceQueue>> ObservedDevice::makeQueue(int64_t scratchBytes) {
  StatusOr<std::unique_ptr<DeviceQueue>> inner = inner_->makeQueue(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(inner.status());
  return std::unique_ptr<DeviceQueue>(std::make_unique<Queue>(*std::move(inner), *this));
}

} // namespace halftone::tools
