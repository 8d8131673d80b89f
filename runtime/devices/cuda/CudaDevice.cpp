// The CUDA device.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaDevice.h"
#include "runtime/devices/cuda/CudaQueue.h"
#include "runtime/devices/cuda/NcclCollectives.h"
#include <fmt/format.h>

namespace halftone::cuda {

StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::open(std::shared_ptr<const Driver> driver, int index, RingSize ring) {
  StatusOr<std::shared_ptr<Gpu>> gpu = Gpu::open(std::move(driver), index, ring);
  HALFTONE_RETURN_IF_ERROR(gpu.status());
  StatusOr<std::shared_ptr<Modules>> modules = Modules::open(*gpu);
  HALFTONE_RETURN_IF_ERROR(modules.status());
  return std::shared_ptr<CudaDevice>(new CudaDevice(*std::move(gpu), *std::move(modules)));
}

std::string CudaDevice::description() const {
  const Driver::Gpu &facts = gpu_->facts();
  return fmt::format("{}, sm_{}, {} GiB", facts.name, facts.capability, facts.bytes >> 30);
}

StatusOr<DeviceMemory> CudaDevice::allocate(int64_t bytes) {
  StatusOr<DeviceMemory> memory = gpu_->allocate(bytes);
  if (!memory.isOk() || bytes == 0)
    return memory;
  const StatusOr<GpuLock> lock = gpu_->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  HALFTONE_RETURN_IF_ERROR(gpu_->check(
      gpu_->calls().memsetD8Async(addressOf(memory->get()), 0, static_cast<size_t>(bytes), gpu_->compute()), "a fill"));
  return memory;
}

Status CudaDevice::upload(std::byte *to, std::span<const std::byte> from) {
  const StatusOr<GpuLock> lock = gpu_->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  HALFTONE_RETURN_IF_ERROR(gpu_->stage(to, from));
  ++gpu_->counters.uploads;
  gpu_->counters.uploadedBytes += static_cast<int64_t>(from.size());
  return {};
}

StatusOr<std::unique_ptr<DeviceQueue>> CudaDevice::makeQueue(int64_t scratchBytes) {
  if (scratchBytes < 0)
    return Status(ErrorKind::device_error, fmt::format("{}: cannot allocate {} bytes", name(), scratchBytes));
  HALFTONE_RETURN_IF_ERROR(gpu_->usable());
  return std::unique_ptr<DeviceQueue>(std::make_unique<CudaQueue>(gpu_, modules_));
}

StatusOr<std::shared_ptr<DeviceCollectives>> CudaDevice::join(std::shared_ptr<ProcessGroup> group) {
  const ForkSafeLock lock(joining_);
  if (group_ != group) {
    StatusOr<std::shared_ptr<NcclCollectives>> joined = NcclCollectives::join(gpu_, group);
    if (!joined.isOk())
      return Status(joined.status().kind(), fmt::format("{}: {}", name(), joined.status().message()));
    collectives_ = *std::move(joined);
    group_ = std::move(group);
  }
  return collectives_;
}

DeviceCounters CudaDevice::counters() const { return gpu_->countersNow(); }

} // namespace halftone::cuda
