// A device for tests whose memory the host cannot touch and whose work runs late: what a GPU is like, without one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace halftone::test {

/// Memory comes twice: at addresses that end the process when the host reads or writes them, which is all that anybody is
/// told, and beside them, where the device's work finds it. Work that is queued runs when somebody waits for it: in
/// download(), or when its queue goes. Memory that is freed before is kept until then.
class FarDevice final : public DeviceRuntime, public std::enable_shared_from_this<FarDevice> {
public:
  using Loader = StatusOr<std::shared_ptr<const KernelLibrary>> (*)(const std::map<std::string, KernelCode> &kernels);
  /// `load` makes the kernels' code callable on the host; null: there are none to load.
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

  /// Where the device's work finds what has this address for everybody else.
  std::byte *inside(const void *address) const;
  void defer(std::function<void()> work);
  void countLaunch();
  void endSubmission();
  /// Runs what was queued; counted as a wait when there is any.
  void wait();

private:
  FarDevice(std::string name, Loader load);
  void release(std::byte *block, int64_t room);
  void waitLocked();
  mutable std::recursive_mutex mutex_;
  std::string name_;
  Loader load_;
  std::byte *outside_ = nullptr, *inside_ = nullptr; // the two views
  int64_t used_ = 0;
  std::multimap<int64_t, std::byte *> free_; // blocks by their room
  std::deque<std::function<void()>> pending_;
  DeviceCounters counters_;
  uint64_t submitted_ = 0, finished_ = 0;
};

} // namespace halftone::test
