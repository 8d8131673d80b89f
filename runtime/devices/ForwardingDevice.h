// Base class of devices that forward all work to another device and observe it; derived classes create the queues.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <memory>
#include <string>
#include <utility>

namespace halftone {

class ForwardingDevice : public DeviceRuntime {
public:
  explicit ForwardingDevice(std::shared_ptr<DeviceRuntime> inner) : inner_(std::move(inner)) {}
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
  StatusOr<std::shared_ptr<DeviceCollectives>> join(std::shared_ptr<ProcessGroup> group) override {
    return inner_->join(std::move(group));
  }
  DeviceCounters counters() const override { return inner_->counters(); }
  uint64_t submission() const override { return inner_->submission(); }
  bool hasFinished(uint64_t submission) const override { return inner_->hasFinished(submission); }

protected:
  DeviceRuntime &inner() const { return *inner_; }

private:
  std::shared_ptr<DeviceRuntime> inner_;
};

/// Base class of the queues of such devices.
class ForwardingQueue : public DeviceQueue {
public:
  explicit ForwardingQueue(std::unique_ptr<DeviceQueue> inner) : inner_(std::move(inner)) {}
  void begin() override { inner_->begin(); }
  void launch(LaunchParts parts) override { inner_->launch(parts); }
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    inner_->copy(to, from, bytes, condition);
  }
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override { inner_->fillZero(to, bytes, condition); }
  bool holds(Condition condition) override { return inner_->holds(condition); }
  Status finish() override { return inner_->finish(); }

private:
  std::unique_ptr<DeviceQueue> inner_;
};

} // namespace halftone
