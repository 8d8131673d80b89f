// Base class of devices that use host memory: in-place copies and counters.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <atomic>
#include <cstring>
#include <memory>

namespace halftone {

class HostDevice : public DeviceRuntime {
public:
  bool isHost() const final { return true; }
  std::string target() const override { return "host"; }
  StatusOr<DeviceMemory> allocate(int64_t bytes) override;
  Status upload(std::byte *to, std::span<const std::byte> from) override;
  Status download(std::span<std::byte> to, const std::byte *from) override;
  DeviceCounters counters() const override;

protected:
  /// Shared with the queues, which may outlive the device. A queue adds its launches once per plan, since updating a
  /// counter shared between threads costs more than a small kernel.
  std::shared_ptr<std::atomic<int64_t>> launches_ = std::make_shared<std::atomic<int64_t>>(0);

private:
  std::atomic<int64_t> uploads_{0}, downloads_{0}, uploadedBytes_{0}, downloadedBytes_{0};
};

} // namespace halftone
