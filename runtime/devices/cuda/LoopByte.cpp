// Copies a byte to pinned memory, and waits for the copy's event.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/LoopByte.h"

namespace halftone::cuda {

/// Waits for copies in flight.
LoopByte::~LoopByte() {
  if (!memory_)
    return;
  const StatusOr<GpuLock> lock = gpu_->lock();
  if (!lock.isOk())
    return;
  for (const Event event : arrived_)
    if (event) {
      (void)gpu_->wait(event); // a destructor cannot report errors
      gpu_->giveEvent(event);
    }
  (void)gpu_->calls().memFreeHost(memory_);
}

Status LoopByte::bring(const std::byte *from, int64_t number) {
  const auto index = static_cast<size_t>(number % 2);
  if (!memory_) {
    void *memory = nullptr;
    HALFTONE_RETURN_IF_ERROR(
        gpu_->check(gpu_->calls().memHostAlloc(&memory, 2 * step, 0), "pinning memory for the end of a loop"));
    memory_ = static_cast<std::byte *>(memory);
  }
  if (!arrived_[index]) {
    const StatusOr<Event> event = gpu_->takeEvent();
    HALFTONE_RETURN_IF_ERROR(event.status());
    arrived_[index] = *event;
  }
  HALFTONE_RETURN_IF_ERROR(gpu_->check(
      gpu_->calls().memcpyDtoHAsync(memory_ + index * step, addressOf(from), 1, gpu_->compute()), "a copy"));
  return gpu_->check(gpu_->calls().eventRecord(arrived_[index], gpu_->compute()), "checking whether a loop continues");
}

StatusOr<std::byte> LoopByte::wait(int64_t number) {
  const auto index = static_cast<size_t>(number % 2);
  HALFTONE_RETURN_IF_ERROR(gpu_->wait(arrived_[index]));
  return memory_[index * step];
}

} // namespace halftone::cuda
