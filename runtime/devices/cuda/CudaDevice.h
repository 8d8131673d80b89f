// An NVIDIA GPU as a runtime device, using only the driver API.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/devices/cuda/Modules.h"
#include <memory>
#include <mutex>

namespace halftone::cuda {

/// Queued work runs asynchronously, in one order for all queues. An error of such work is reported by a later request,
/// and by every request from then on.
class CudaDevice final : public DeviceRuntime {
public:
  /// Opens the GPU with that index. Errors are those of Gpu::open() and Modules::open().
  static StatusOr<std::shared_ptr<CudaDevice>> open(std::shared_ptr<const Driver> driver, int index,
                                                    RingSize ring = {});

  std::string name() const override { return gpu_->name(); }
  std::string description() const override; // "NVIDIA H200, sm_90, 139 GiB"
  bool isHost() const override { return false; }
  std::string target() const override { return "sm_80"; }
  StatusOr<DeviceMemory> allocate(int64_t bytes) override;
  StatusOr<DeviceMemory> allocateUndefined(int64_t bytes) override { return gpu_->allocate(bytes); }
  Status upload(std::byte *to, std::span<const std::byte> from) override;
  Status download(std::span<std::byte> to, const std::byte *from) override { return gpu_->download(to, from); }
  /// Loads code for targets "nvptx|...". Errors as for Modules::load().
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override {
    return modules_->load(kernels);
  }
  /// Scratch is allocated when a launch first needs it.
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  /// Errors as NcclCollectives::join().
  StatusOr<std::shared_ptr<DeviceCollectives>> join(std::shared_ptr<ProcessGroup> group) override;
  DeviceCounters counters() const override;
  uint64_t submission() const override { return gpu_->submission(); }
  bool hasFinished(uint64_t submission) const override { return gpu_->hasFinished(submission); }

private:
  CudaDevice(std::shared_ptr<Gpu> gpu, std::shared_ptr<Modules> modules)
      : gpu_(std::move(gpu)), modules_(std::move(modules)) {}
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Modules> modules_;
  std::mutex joining_;
  std::shared_ptr<ProcessGroup> group_; // that the device has joined
  std::shared_ptr<DeviceCollectives> collectives_;
};

} // namespace halftone::cuda
