// The byte that tells whether a loop continues, copied to the host while the GPU continues to work.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/Gpu.h"
#include <array>
#include <memory>

namespace halftone::cuda {

/// Up to two copies of the byte may be in flight. The caller of each member holds a GpuLock.
class LoopByte {
public:
  explicit LoopByte(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~LoopByte();
  LoopByte(const LoopByte &) = delete;
  LoopByte &operator=(const LoopByte &) = delete;
  /// Queues a copy of the byte after all queued work. Copies are numbered 0, 1, 2, ...; copy n reuses the memory of
  /// copy n - 2.
  Status bring(const std::byte *from, int64_t number);
  /// The byte of that copy; waits for the copy, and for no work after it.
  StatusOr<std::byte> wait(int64_t number);

private:
  static constexpr size_t step = 64; // bytes between the two copies
  std::shared_ptr<Gpu> gpu_;
  std::byte *memory_ = nullptr; // pinned
  std::array<Event, 2> arrived_{};
};

} // namespace halftone::cuda
