// A test device whose memory the host cannot access and whose work runs late, as on a GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace halftone::test {

/// Each block of memory has two addresses. Accesses of the host to the public address terminate the process. The work
/// of the device uses the other address, inside. Queued work runs only when somebody waits for it: in download(), or
/// when its queue is destroyed. Memory that is freed earlier is kept until then.
class FarDevice final : public DeviceRuntime, public std::enable_shared_from_this<FarDevice> {
public:
  using Loader = StatusOr<std::shared_ptr<const KernelLibrary>> (*)(const std::map<std::string, KernelCode> &kernels);
  /// `load` makes the code of kernels callable on the host; null: no plan has kernels.
  static std::shared_ptr<FarDevice> create(std::string name, Loader load = nullptr);
  ~FarDevice() override;

  std::string name() const override { return name_; }
  std::string description() const override { return "memory apart, work late"; }
  bool isHost() const override { return false; }
  std::string target() const override { return "host"; }
  StatusOr<DeviceMemory> allocate(int64_t bytes) override;
  Status upload(std::byte *to, std::span<const std::byte> from) override;
  Status download(std::span<std::byte> to, const std::byte *from) override;
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  DeviceCounters counters() const override;
  uint64_t submission() const override;
  bool hasFinished(uint64_t submission) const override;

  /// The inside address for a public address.
  std::byte *inside(const void *address) const;
  void defer(std::function<void()> work);
  void countLaunch();
  void endSubmission();
  /// Runs all queued work. Counts a wait if there is any.
  void wait();

private:
  FarDevice(std::string name, Loader load);
  void release(std::byte *block, int64_t room);
  void waitLocked();
  mutable std::recursive_mutex mutex_;
  std::string name_;
  Loader load_;
  std::byte *outside_ = nullptr, *inside_ = nullptr; // the start of both views of the memory
  int64_t used_ = 0;
  std::multimap<int64_t, std::byte *> free_; // free blocks by size in bytes
  std::deque<std::function<void()>> pending_;
  DeviceCounters counters_;
  uint64_t submitted_ = 0, finished_ = 0;
};

} // namespace halftone::test
